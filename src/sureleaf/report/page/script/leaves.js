// The table of leaves: sorted, filtered, taken away as CSV.
"use strict";

(() => {
  const S = window.Sureleaf;
  const { element, byId, report } = S;
  const table = byId("leaf-table"), body = table.tBodies[0];
  const lines = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const filter = byId("leaf-filter"), only = byId("leaf-flagged"), ofClass = byId("leaf-class");

  const { byNode, ruleOf } = S.treeParts;
  const leafOf = (line) => byNode.get(Number(line.dataset.leaf));
  const KEYS = {
    leaf: (leaf) => leaf.id,
    rule: (leaf) => ruleOf(leaf.id).toLowerCase(),
    rows: (leaf) => leaf.n,
    predicts: (leaf) => S.label(leaf.prediction).toLowerCase(),
    probability: (leaf) => leaf.probability,
    confidence: (leaf) => leaf.confidence,
    utility: (leaf) => leaf.utility,
    needed: (leaf) => leaf.rows_needed ?? Infinity,
  };

  function sortBy(head) {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of heads) if (other.dataset.key) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = lines.map((line, at) => ({ line, at, key: KEYS[head.dataset.key](leafOf(line)) }));
    keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) * (down ? -1 : 1) || a.at - b.at);
    body.append(...keyed.map((one) => one.line));
  }
  for (const head of heads) {
    if (!head.dataset.key) continue;
    head.append(element("button", { type: "button", "aria-label": `Sort by ${head.textContent}` }));
    head.addEventListener("click", () => sortBy(head));
    head.setAttribute("aria-sort", head.dataset.key === "leaf" ? "ascending" : "none");
  }

  function show() {
    const wanted = filter.value.trim().toLowerCase();
    let shown = 0;
    for (const line of lines) {
      const told = `${line.cells[1].textContent} ${line.cells[3].textContent}`.toLowerCase();
      const fits = (!wanted || told.includes(wanted)) && (!only.checked || line.classList.contains("flagged")) && (ofClass.value === "" || line.dataset.class === ofClass.value);
      line.hidden = !fits;
      shown += fits;
    }
    byId("leaf-found").textContent = shown === lines.length ? "" : `${shown} of ${lines.length} leaves`;
  }
  for (const control of [filter, only, ofClass]) control.addEventListener("input", show);

  body.addEventListener("click", (event) => {
    const link = event.target.closest(".leaf-link");
    if (link) S.tree.show(Number(link.closest("tr").dataset.leaf));
  });

  // Spreadsheets run text that begins like a formula; an apostrophe keeps it text.
  function cell(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }
  function csv() {
    const names = ["leaf", "rule", "rows", "predicts", "probability", "low", "high", "confidence", "utility", "rows_needed", "flagged", "repair", ...report.data.classes.map((one) => `rows of ${one.label}`)];
    const told = [...body.rows].filter((line) => !line.hidden).map((line) => {
      const leaf = leafOf(line);
      return [leaf.id, ruleOf(leaf.id), leaf.n, S.label(leaf.prediction), leaf.probability, leaf.low, leaf.high, leaf.confidence, leaf.utility, leaf.rows_needed, leaf.flagged ? "yes" : "no", leaf.repair, ...leaf.counts];
    });
    return [names, ...told].map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
  }
  byId("leaf-csv").addEventListener("click", () => {
    const url = URL.createObjectURL(new Blob(["\ufeff", csv()], { type: "text/csv;charset=utf-8" }));
    const link = element("a", { href: url, download: "leaves.csv" });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  });
  S.leavesCsv = csv;
})();
