"""Arguments that several commands read: columns of a table, and the width of a kernel."""

__all__ = ["column", "columns", "width"]


def column(text: str) -> str | int:
    """A column by name, or by place if it is a whole number."""
    return int(text) if text.lstrip("-").isdigit() else text


def columns(text: str) -> list[str | int]:
    """Several columns, separated by commas."""
    return [column(part) for part in text.split(",")]


def width(text: str) -> str | float:
    """A number, or the name of a rule."""
    try:
        return float(text)
    except ValueError:
        return text
