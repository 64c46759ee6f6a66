// A row to follow: one of the examples, or values typed in.
"use strict";

(() => {
  const S = window.Sureleaf;
  const { element, byId, report } = S;
  const { columns, example_rows: examples } = report.tree;
  const form = byId("row-form"), result = byId("row-result");
  const DAY = 86400e6, OTHER = "other";

  const CLOCK = /^(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?$/;
  const SPAN = /^(-?)P(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
  function microseconds(text, temporal) {
    if (temporal === "time") {
      const part = CLOCK.exec(text);
      return part ? (Number(part[1]) * 3600 + Number(part[2]) * 60 + Number(part[3] || 0)) * 1e6 : NaN;
    }
    if (temporal === "duration") {
      const part = SPAN.exec(text);
      if (!part) return NaN;
      const [days, hours, minutes, seconds] = part.slice(2).map((one) => Number(one || 0));
      return (part[1] ? -1 : 1) * (days * 86400 + hours * 3600 + minutes * 60 + seconds) * 1e6;
    }
    const zoned = /Z$|[+-]\d{2}:?\d{2}$/.test(text.slice(10)) || text.length <= 10;
    return Date.parse(zoned ? text : `${text}Z`) * 1000;
  }
  function numberOf(text, temporal) {
    if (!temporal) return text.trim() === "" ? NaN : Number(text.trim());
    const found = microseconds(text.trim(), temporal);
    return temporal === "date" ? found / DAY : found;
  }

  function fieldOf(column) {
    if (!column.categories)
      return element("input", { type: "text", inputmode: column.temporal ? null : "decimal", placeholder: "missing", autocomplete: "off" });
    const options = column.categories.map((name, code) => element("option", { value: code }, name));
    const other = column.kind === "ordered" ? null : element("option", { value: OTHER }, "(a value never seen)");
    return element("select", {}, element("option", { value: "" }, "(missing)"), options, other);
  }
  const fields = columns.map((column) => {
    const field = fieldOf(column);
    form.append(element("label", {}, element("span", {}, column.name), field));
    return field;
  });

  function valueOf(field, column) {
    if (column.categories) return field.value === "" ? null : field.value === OTHER ? S.UNSEEN : Number(field.value);
    if (field.value.trim() === "") return null;
    // An example's own number: its text may be rounded.
    if (field.dataset.text === field.value) return Number(field.dataset.code);
    return numberOf(field.value, column.temporal);
  }

  function showExample(example) {
    columns.forEach((column, place) => {
      const field = fields[place], text = example.values[place], code = example.codes ? example.codes[place] : null;
      delete field.dataset.text;
      if (column.categories) field.value = text === null ? "" : String(code ?? column.categories.indexOf(text));
      else {
        field.value = text ?? "";
        if (text !== null && code !== null) Object.assign(field.dataset, { text, code });
      }
    });
  }

  const chooser = element("select", { id: "row-chooser" }, element("option", { value: "" }, "a row of my own"),
    (examples || []).map((one, place) => element("option", { value: place }, `row ${one.row + 1} (${report.data.target}: ${one.truth})`)));
  form.prepend(element("label", { class: "choose" }, element("span", {}, "Example"), chooser));
  chooser.addEventListener("change", () => {
    if (chooser.value !== "") showExample(examples[Number(chooser.value)]);
    update();
  });
  form.addEventListener("input", (event) => {
    if (event.target === chooser) return;
    chooser.value = "";
    update();
  });
  form.addEventListener("submit", (event) => event.preventDefault());

  function leafLine(end) {
    const node = S.treeParts.byNode.get(end.id);
    const told = `${S.treeParts.isLeaf(node) ? "leaf" : "node"} ${end.id}`;
    const link = element("a", { href: "#tree", on: { click: () => S.tree.choose(end.id) } }, told);
    const flag = node.flagged ? element("span", { class: "flag", title: `not to be trusted: ${S.whyFlagged(node)}` }, "!", element("span", { class: "hidden" }, " flagged")) : null;
    return element("tr", { class: node.flagged ? "flagged" : null }, element("td", { class: "nowrap" }, link, flag ? " " : null, flag), element("td", { class: "num" }, S.percent(end.share)), element("td", {}, S.label(node.prediction)), element("td", { class: "num" }, S.percent(node.confidence)));
  }
  function table(names, lines) {
    const head = names.map(([name, numeric]) => (name ? element("th", { scope: "col", class: numeric ? "num" : null }, name) : element("td", {})));
    return element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, lines));
  }

  function tell(found, example) {
    const order = found.probabilities.map((_, place) => place);
    order.sort((a, b) => found.probabilities[b] - found.probabilities[a] || a - b);
    const classes = order.slice(0, 8).map((place) =>
      element("tr", {},
        element("th", { scope: "row" }, element("span", { class: "swatch", swatch: S.colour(place), "aria-hidden": "true" }), S.label(place)),
        element("td", { class: "num", "data-probability": found.probabilities[place] }, S.percent(found.probabilities[place])),
        element("td", { class: "bar" }, S.shareBar(found.probabilities[place], S.colour(place)))),
    );
    const truth = example ? ` The row is ${example.truth}.` : "";
    const many = found.ends.length > 1 ? ` It goes down several branches, because a value is missing or new, and ends in ${found.ends.length} places.` : "";
    const ends = [...found.ends].sort((a, b) => b.share - a.share);
    const weak = ends.map((end) => S.treeParts.byNode.get(end.id)).filter((node) => node.flagged);
    const warning = weak.length && ends.length === 1 ? `Leaf ${weak[0].id} is not to be trusted: ${S.whyFlagged(weak[0])}.` : weak.length ? `${weak.length} of these ${ends.length} places are leaves not to be trusted (!).` : null;
    result.replaceChildren(
      element("p", {}, "Predicted: ", element("strong", { id: "row-prediction" }, S.label(found.prediction)), `.${truth}${many}`),
      table([["class"], ["probability", true], [""]], classes),
      element("h4", {}, "Where it ends"),
      table([["place"], ["share", true], ["predicts"], ["confidence", true]], ends.slice(0, 12).map(leafLine)),
      warning ? element("p", { class: "why", id: "row-warning" }, warning) : "",
    );
  }

  function update() {
    const values = columns.map((column, place) => valueOf(fields[place], column));
    let wrong = null;
    fields.forEach((field, place) => {
      const bad = Number.isNaN(values[place]);
      field.setAttribute("aria-invalid", String(bad));
      if (bad && !wrong) wrong = columns[place].name;
    });
    if (wrong) return result.replaceChildren(element("p", {}, `${wrong}: this is not a number or date.`));
    const found = S.rowPath(values);
    if (found.refused !== null)
      return result.replaceChildren(element("p", {}, `This tree refuses values of ${columns[found.refused].name} that it has never seen.`));
    tell(found, chooser.value === "" ? null : examples[Number(chooser.value)]);
    S.tree.follow(found.shares);
  }

  S.followRow = update;
  byId("row-path").addEventListener("toggle", (event) => {
    if (!event.target.open) return S.tree.follow(new Map());
    if (examples && examples.length && chooser.value === "" && fields.every((field) => field.value === "")) {
      chooser.value = "0";
      showExample(examples[0]);
    }
    update();
  });
})();
