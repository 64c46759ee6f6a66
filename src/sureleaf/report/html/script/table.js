// A table that is sorted by its heads, filtered by its tools and taken away as CSV.
"use strict";

(() => {
  const S = window.Sureleaf;
  const { element, byId } = S;

  // Spreadsheets run text that begins like a formula; an apostrophe keeps it text.
  function cell(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    if (typeof value === "boolean") return value ? "yes" : "no";
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }
  const csvText = (lines) => lines.map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
  function download(text, name) {
    const url = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
    const link = element("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  // keys: by data-key of a head, the value of a record to sort by; nothing sorts last.
  // csv: { file, names, values: record -> cells }.
  S.table = (prefix, { recordOf, keys, noun, csv }) => {
    const table = byId(`${prefix}-table`), body = table.tBodies[0];
    const lines = [...body.rows], heads = [...table.tHead.rows[0].cells];
    const told = heads.filter((head) => head.dataset.told !== undefined).map((head) => head.cellIndex);

    function sortBy(head) {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) if (other.dataset.key) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = lines.map((line, at) => ({ line, at, key: keys[head.dataset.key](recordOf(line)) ?? Infinity }));
      keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) * (down ? -1 : 1) || a.at - b.at);
      body.append(...keyed.map((one) => one.line));
    }
    const first = lines.map((line) => keys[heads[0].dataset.key](recordOf(line)));
    const inOrder = first.every((key, at) => at === 0 || first[at - 1] <= key);
    for (const head of heads) {
      if (!head.dataset.key) continue;
      head.append(element("button", { type: "button", "aria-label": `Sort by ${head.textContent.trim()}` }));
      head.addEventListener("click", () => sortBy(head));
      head.setAttribute("aria-sort", head === heads[0] && inOrder ? "ascending" : "none");
    }

    const filter = byId(`${prefix}-filter`), only = byId(`${prefix}-flagged`), ofClass = byId(`${prefix}-class`);
    if (!filter) return;
    function show() {
      const wanted = filter.value.trim().toLowerCase();
      let shown = 0;
      for (const line of lines) {
        const text = told.map((at) => line.cells[at].textContent).join(" ").toLowerCase();
        const fits = (!wanted || text.includes(wanted)) && (!only.checked || line.classList.contains("flagged")) && (ofClass.value === "" || line.dataset.class === ofClass.value);
        line.hidden = !fits;
        shown += fits;
      }
      byId(`${prefix}-found`).textContent = shown === lines.length ? "" : `${shown} of ${lines.length} ${noun}`;
    }
    for (const control of [filter, only, ofClass]) control.addEventListener("input", show);

    byId(`${prefix}-csv`).addEventListener("click", () => {
      const kept = [...body.rows].filter((line) => !line.hidden).map((line) => csv.values(recordOf(line)));
      download(csvText([csv.names, ...kept]), csv.file);
    });
  };
})();
