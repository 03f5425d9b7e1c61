"use strict";
document.documentElement.classList.add("js");

// Sorting, filtering and pages, kept in the address so that a view can be sent to someone:
// <id of the table>.<field>=<value>, .sort=<column> (-<column> downwards), .page=<number>.
const controls = new Map();
const remember = () => {
  const query = new URLSearchParams();
  for (const [name, state] of controls) {
    for (const [key, value] of Object.entries(state())) if (value) query.set(`${name}.${key}`, value);
  }
  const text = query.toString();
  try {
    history.replaceState(history.state, "", (text ? `?${text}` : location.pathname) + location.hash);
  } catch {
    // a browser that refuses this for files still filters
  }
};

const keyOf = (row, column) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
const sorted = (rows, column, sign) => {
  const keyed = rows.map((row, place) => [keyOf(row, column), place, row]);
  keyed.sort(([a, i], [b, j]) => {
    if ((a === "") !== (b === "")) return a === "" ? 1 : -1; // empty cells last in both directions
    const x = Number(a), y = Number(b);
    const order = Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
    return sign * order || i - j;
  });
  return keyed.map((entry) => entry[2]);
};

const control = (table) => {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const more = document.getElementById(`${table.id}-more`); // the rows of the other pages
  const original = [...body.rows, ...(more ? more.content.querySelectorAll("tr") : [])];
  const form = document.querySelector(`form[data-filters="${table.id}"]`);
  const count = document.getElementById(`${table.id}-count`), pages = document.getElementById(`${table.id}-pages`);
  const texts = new Map();
  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  const fields = form ? [...form.elements].filter((field) => field.name) : [];
  let order = original, sort = 0, page = 0;

  const fits = (row) => fields.every((field) => {
    const value = field.value.trim();
    if (!value || "setting" in field.dataset) return true;
    return field.type === "search"
      ? value.toLowerCase().split(/\s+/).every((word) => textOf(row).includes(word))
      : row.dataset[field.name] === value;
  });
  const step = (text, to, last) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.disabled = to < 0 || to > last;
    button.addEventListener("click", () => { page = to; show(); remember(); table.closest("section").scrollIntoView(); });
    return button;
  };
  const show = () => {
    const found = order.filter(fits);
    const size = form?.elements.rows?.value === "all" ? Infinity : Number(table.dataset.page ?? Infinity);
    const last = Math.max(0, Math.ceil(found.length / size) - 1);
    page = Math.min(Math.max(page, 0), last);
    body.replaceChildren(...(size === Infinity ? found : found.slice(page * size, (page + 1) * size)));
    if (count) count.textContent = `${found.length} of ${original.length} rows`;
    pages?.replaceChildren(...(last ? [step("Previous", page - 1, last), ` page ${page + 1} of ${last + 1} `, step("Next", page + 1, last)] : []));
  };
  const sortBy = (column) => { // 1 is the first column, -1 the same downwards, 0 the order as written
    sort = Math.abs(column) <= heads.length ? column : 0;
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    order = sort ? sorted(original, Math.abs(sort) - 1, Math.sign(sort)) : original;
    if (sort) heads[Math.abs(sort) - 1].setAttribute("aria-sort", sort > 0 ? "ascending" : "descending");
  };
  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => { sortBy(sort === place + 1 ? -place - 1 : place + 1); page = 0; show(); remember(); });
  });
  // A table belongs to a paper: with a paper chosen, offer only its tables.
  const narrow = () => {
    const paper = form?.elements.paper, chosen = form?.elements.table;
    if (!paper || !chosen) return;
    for (const option of chosen.options) option.hidden = option.disabled =
      Boolean(paper.value && option.dataset.paper && option.dataset.paper !== paper.value);
    if (chosen.selectedOptions[0]?.disabled) chosen.value = "";
  };
  const changed = () => { narrow(); page = 0; show(); remember(); };
  if (form) {
    for (const kind of ["input", "change"]) form.addEventListener(kind, changed);
    form.addEventListener("reset", () => setTimeout(() => { sortBy(0); changed(); }));
    form.addEventListener("submit", (event) => event.preventDefault());
    // Segments of the bars and counts choose a paper and a verdict.
    for (const link of document.querySelectorAll(`a[data-choose="${form.id}"]`)) {
      link.addEventListener("click", () => {
        for (const field of fields) field.value = link.dataset[field.name] ?? "";
        changed();
      });
    }
  }
  const query = new URLSearchParams(location.search), asked = (name) => query.get(`${table.id}.${name}`) ?? "";
  for (const field of fields) {
    field.value = asked(field.name);
    if (field.selectedIndex === -1) field.value = ""; // an address may name what is not there
  }
  narrow();
  sortBy(Math.trunc(Number(asked("sort"))) || 0);
  page = (Math.trunc(Number(asked("page"))) || 1) - 1;
  show();
  if (table.id) controls.set(table.id, () => ({
    ...Object.fromEntries(fields.map((field) => [field.name, field.value.trim()])), sort, page: page && page + 1,
  }));
};
for (const table of document.querySelectorAll("table.sortable")) control(table);

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

// On a phone the contents fold away until they are asked for.
const menu = document.querySelector("nav.contents details"), narrowScreen = matchMedia("(max-width: 40rem)");
if (menu) {
  const fold = () => { menu.open = !narrowScreen.matches; };
  narrowScreen.addEventListener("change", fold);
  menu.addEventListener("click", (event) => { if (event.target.closest("a")) fold(); });
  fold();
}

// A link to something within a closed section opens it; printing opens the notes and loads every picture.
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
  document.querySelectorAll("img[loading=lazy]").forEach((image) => { image.loading = "eager"; });
});
addEventListener("afterprint", () => closed.forEach((node) => { node.open = false; }));
