"use strict";
document.documentElement.classList.add("js");

// Sorting: every table with the class "sortable"; the button of a column head turns its order.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const original = [...body.rows];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const direction = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction);
      const sign = direction === "ascending" ? 1 : -1;
      const keyed = original.map((row, place) => [row.cells[column].dataset.sort ?? row.cells[column].textContent.trim(), place, row]);
      keyed.sort(([a, i], [b, j]) => {
        if ((a === "") !== (b === "")) return a === "" ? 1 : -1; // empty cells last in both directions
        const x = Number(a), y = Number(b);
        const order = Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
        return sign * order || i - j;
      });
      body.append(...keyed.map((entry) => entry[2]));
    });
  });
}

// Filtering: a form with data-filters="<id of a table>"; its fields name data attributes of the rows.
for (const form of document.querySelectorAll("form[data-filters]")) {
  const rows = [...document.getElementById(form.dataset.filters).tBodies[0].rows];
  const text = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const count = document.getElementById(form.dataset.filters + "-count");
  const apply = () => {
    const fields = [...form.elements].filter((field) => field.name && field.value.trim());
    let shown = 0;
    for (const row of rows) {
      const fits = fields.every((field) => field.type === "search"
        ? field.value.toLowerCase().trim().split(/\s+/).every((word) => text.get(row).includes(word))
        : row.dataset[field.name] === field.value);
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length} shown`;
  };
  // A table belongs to a paper: with a paper chosen, offer only its tables.
  const paper = form.elements.paper, table = form.elements.table;
  const narrow = () => {
    if (!paper || !table) return;
    for (const option of table.options) option.hidden = option.disabled =
      Boolean(paper.value && option.dataset.paper && option.dataset.paper !== paper.value);
    if (table.selectedOptions[0]?.disabled) table.value = "";
  };
  for (const kind of ["input", "change"]) form.addEventListener(kind, () => { narrow(); apply(); });
  form.addEventListener("reset", () => setTimeout(() => { narrow(); apply(); }));
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
  // Segments of the bars and counts choose a paper and a verdict.
  for (const link of document.querySelectorAll(`a[data-choose="${form.id}"]`)) {
    link.addEventListener("click", () => {
      form.reset();
      setTimeout(() => {
        for (const name of ["paper", "kind", "verdict"]) if (form.elements[name]) form.elements[name].value = link.dataset[name] ?? "";
        narrow();
        apply();
      });
    });
  }
}

for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    } catch {
      getSelection().selectAllChildren(code); // no clipboard here: leave the text selected
    }
  });
}

// A link to something within a closed section opens it; printing opens all.
const reveal = () => {
  let place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let node = place; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  place?.scrollIntoView?.();
};
addEventListener("hashchange", reveal);
reveal();
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((node) => { node.open = true; });
});
addEventListener("afterprint", () => closed.forEach((node) => { node.open = false; }));
