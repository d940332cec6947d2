// A table of any length. It shows one page of rows, sorted by a column. Each column of times has one unit.

const PAGE_ROWS = 50;

/** Returns the finest step that all given values need, with at most `digits` decimal places. */
function finestOf(values, digits = 3) {
  for (let k = 0; k < digits; k++) {
    const scale = 10 ** k;
    if (values.every((value) => Math.abs(value * scale - Math.round(value * scale)) < 1e-6 * Math.max(1, Math.abs(value * scale)))) return 1 / scale;
  }
  return 10 ** -digits;
}

/** A table with pages of rows. Rows are numbered from 0. Columns have a name, a value to sort by, and a kind: "text", "time" or
 * "number". */
class PagedTable {
  constructor(host, { columns, count, act, label, sorted = -1, rows = PAGE_ROWS }) {
    host.classList.add("paged");
    Object.assign(this, { host, columns, count, act, rows, column: sorted, down: false, page: 0, order: null, chosen: () => false });
    this.head = element("tr");
    this.body = element("tbody");
    this.place = element("output", { class: "page" });
    this.back = element("button", { type: "button", "data-act": "previous", "aria-label": "Previous page", onclick: () => this.turn(-1) }, "\u2039");
    this.next = element("button", { type: "button", "data-act": "next", "aria-label": "Next page", onclick: () => this.turn(1) }, "\u203a");
    this.pager = element("div", { class: "buttons pager", role: "group", "aria-label": "Pages" }, this.back, this.place, this.next);
    this.table = element("table", { "aria-label": label }, element("thead", {}, this.head), this.body);
    host.replaceChildren(element("div", { class: "scroll" }, this.table));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && !event.target.closest("a")) this.act(Number(row.dataset.row));
    });
    this.measure();
    this.show();
  }
  /** Returns values of a column: all values, or a sample if there are many rows. */
  sampleOf(column) {
    const step = Math.max(1, Math.floor(this.count / 2000));
    const values = [];
    for (let row = 0; row < this.count; row += step) {
      const value = column.value(row);
      if (Number.isFinite(value)) values.push(value);
    }
    return values;
  }
  /** Chooses the formats of columns with times and numbers. Columns that are `like` each other have the same format. */
  measure() {
    this.formats = this.columns.map((column) => {
      if (column.kind === "text" || column.text) return null;
      const alike = column.like ? this.columns.filter(({ like }) => like === column.like) : [column];
      const values = alike.flatMap((one) => this.sampleOf(one));
      const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      if (column.kind === "number") {
        const digits = Math.round(-Math.log10(finestOf(values, 6)));
        return { unit: "", text: (value) => value.toFixed(digits) };
      }
      // A column that contains only zeros does not determine a unit.
      const unit = largest >= 0.1 || largest === 0 ? 1 : largest >= 1e-4 ? 1e-3 : 1e-6;
      return columnFormat(largest || 1, finestOf(values.map((value) => value / unit)) * unit);
    });
    this.head.replaceChildren(...this.columns.map((column, index) => this.heading(column, index)));
  }
  heading(column, index) {
    const unit = this.formats[index]?.unit;
    const words = [element("span", termOf(column.name), column.name), ...(unit ? [element("small", {}, ` ${unit}`)] : [])];
    const button = element("button", { type: "button", onclick: () => this.sortBy(index) }, ...words);
    return element("th", { scope: "col", class: column.kind === "text" ? null : "number" }, button);
  }
  sortBy(index) {
    this.down = this.column === index && !this.down;
    Object.assign(this, { column: index, page: 0 });
    const { value, kind } = this.columns[index];
    const keys = Array.from(this.order ?? { length: this.count }, (row, at) => value(this.order ? row : at));
    const rows = this.order ?? Uint32Array.from({ length: this.count }, (_, row) => row);
    const places = Uint32Array.from(keys, (_, at) => at);
    const sign = this.down ? -1 : 1;
    const compare = kind === "text" ? (a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0) : (a, b) => keys[a] - keys[b];
    this.order = Uint32Array.from(places.sort((a, b) => sign * compare(a, b) || rows[a] - rows[b]), (at) => rows[at]);
    this.show();
  }
  /** Shows only these rows, in their order. With null, shows all rows. */
  only(rows) {
    this.order = rows;
    Object.assign(this, { page: 0, column: rows ? -1 : this.column });
    this.show();
  }
  turn(pages) {
    this.page += pages;
    this.show();
  }
  show() {
    const total = this.order ? this.order.length : this.count;
    const pages = Math.max(1, Math.ceil(total / this.rows));
    this.page = Math.min(Math.max(this.page, 0), pages - 1);
    const first = this.page * this.rows;
    const count = Math.min(this.rows, total - first);
    this.body.replaceChildren(...Array.from({ length: count }, (_, k) => this.rowOf(this.order ? this.order[first + k] : first + k)));
    this.place.textContent = total ? `${grouped(first + 1)}\u2013${grouped(first + count)} of ${grouped(total)}` : "no jobs";
    this.back.disabled = this.page === 0;
    this.next.disabled = this.page === pages - 1;
    this.columns.forEach((_, index) => {
      const heading = this.head.cells[index];
      if (index === this.column) heading.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    });
  }
  rowOf(row) {
    const cells = this.columns.map((column, index) => {
      const value = column.value(row);
      if (column.links) return element("td", {}, ...column.links(row).map(([word, href]) => element("a", { href }, word)));
      const text = column.text ? column.text(row) : this.formats[index] ? (Number.isFinite(value) ? this.formats[index].text(value) : "\u2013") : String(value);
      const inside = index === 0 ? element("button", { type: "button", dir: "auto", title: `Show ${column.title?.(row) ?? text} in the chart` }, text) : element("bdi", {}, text);
      return element("td", { class: column.kind !== "text" ? "number" : column.isBad?.(row) ? "bad" : null, title: index > 0 && column.title?.(row) }, inside);
    });
    return element("tr", { "data-row": row, class: this.chosen(row) ? "chosen" : null }, ...cells);
  }
  mark() {
    for (const row of this.body.rows) row.classList.toggle("chosen", this.chosen(Number(row.dataset.row)));
  }
}
