"use strict";
// Sorts tables and goes through the steps of traces. Text of a model is only
// ever set as text.

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const key = (row, column) => {
    const cell = row.cells[column];
    const text = cell.textContent;
    const number = Number(cell.dataset.v ?? text.replace(/[, %]/g, ""));
    return Number.isNaN(number) ? text : number;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true });
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [key(row, column), row]);
      rows.sort((a, b) => (down ? compare(b[0], a[0]) : compare(a[0], b[0])));
      body.append(...rows.map((row) => row[1]));
    });
  });
}

const process = (step) => `${step.name}(${step.process})`;
const place = (at) => `${at.file}:${at.line}:${at.column}`;

class Stepper {
  constructor(root) {
    this.number = Number(root.dataset.violation);
    const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
    Object.assign(this, data);
    this.first = this.skipped + 1;
    this.last = this.skipped + this.steps.length;
    this.output = root.querySelector("output");
    this.list = root.querySelector(".steps");
    this.pane = root.querySelector(".step");
    this.chart = root.parentElement.querySelector(".chart .scroll");
    this.rows = [...this.chart.querySelectorAll(".row")];
    this.buttons = [...root.querySelectorAll("[data-go]")];
    for (const button of this.buttons) {
      button.addEventListener("click", () => this.go(button.dataset.go));
    }
    this.list.addEventListener("click", (event) => {
      const item = event.target.closest("li");
      if (item) this.show(this.first + [...this.list.children].indexOf(item));
    });
    this.list.addEventListener("keydown", (event) => {
      const go = { ArrowUp: "previous", ArrowDown: "next", Home: "first", End: "last" }[event.key];
      if (go) {
        event.preventDefault();
        this.go(go);
      }
    });
    this.chart.addEventListener("click", (event) => {
      const under = (row) => {
        const box = row.getBoundingClientRect();
        return box.top <= event.clientY && event.clientY < box.bottom;
      };
      const row = this.rows.find(under);
      if (row) this.show(Math.max(Number(row.dataset.from) + 1, this.first));
    });
  }

  go(where) {
    const to = { first: this.first, previous: this.at - 1, next: this.at + 1, last: this.last };
    this.show(to[where]);
  }

  // Goes to a step, counted from 1.
  show(at, quietly) {
    this.at = Math.min(Math.max(at, this.first), this.last);
    const step = this.steps[this.at - this.first];
    this.output.textContent = `step ${this.at} of ${this.last}`;
    for (const button of this.buttons) {
      const end = /first|previous/.test(button.dataset.go) ? this.first : this.last;
      button.disabled = this.at === end;
    }
    this.mark();
    this.pane.replaceChildren(...this.describe(step));
    if (!quietly) {
      active = this;
      const hash = steppers.length > 1 ? `#violation=${this.number}&step=${this.at}` : `#step=${this.at}`;
      try {
        history.replaceState(null, "", hash);
      } catch {
        // Some viewers do not let a page name its place.
      }
    }
  }

  // Lights up the step in the list and in the chart.
  mark() {
    this.item?.classList.remove("current");
    this.item?.removeAttribute("aria-selected");
    this.item = this.list.children[this.at - this.first];
    this.item.classList.add("current");
    this.item.setAttribute("aria-selected", "true");
    this.list.setAttribute("aria-activedescendant", this.item.id);
    reveal(this.list, this.item);
    for (const row of this.rows) {
      const here = Number(row.dataset.from) < this.at && this.at <= Number(row.dataset.to);
      row.classList.toggle("current", here);
      if (here) reveal(this.chart, row);
    }
  }

  // The variables after the current step.
  variables() {
    const values = new Map(Object.entries(this.before));
    for (const step of this.steps.slice(0, this.at - this.skipped)) {
      for (const change of step.changes ?? []) values.set(change.name, change.to);
      if (step.statement === "-end-") {
        for (const name of [...values.keys()]) {
          if (name.startsWith(`${process(step)}:`)) values.delete(name);
        }
      }
    }
    const local = (name) => name.includes("):");
    const order = (a, b) => local(a) - local(b) || a.localeCompare(b, "en", { numeric: true });
    return [...values].sort((a, b) => order(a[0], b[0]));
  }

  describe(step) {
    const out = [];
    const head = element("p", `p${step.process % 6}`);
    head.append(element("span", "who", process(step)), ` at ${place(step.location)}`);
    const statement = element("p", "statement");
    statement.append(element("code", "", step.statement));
    out.push(head, statement);
    if (step.continues) out.push(element("p", "note", "The next step belongs to the same transition."));
    const list = (heading, items) => {
      if (!items.length) return;
      const ul = element("ul");
      for (const item of items) ul.append(element("li", "", item));
      out.push(element("h4", "", heading), ul);
    };
    const changes = step.changes ?? [];
    const how = (m) => (m.rendezvous ? " (rendezvous)" : "");
    list("Changed", changes.map((c) => (c.from === "" ? `${c.name} = ${c.to}` : `${c.name}: ${c.from} → ${c.to}`)));
    list("Sent", (step.sent ?? []).map((m) => `${m.values.join(",")} to ${m.channel}${how(m)}`));
    list("Received", (step.received ?? []).map((m) => `${m.values.join(",")} from ${m.channel}${how(m)}`));
    if (step.printed) list("Printed", step.printed.replace(/\n$/, "").split("\n"));
    if (this.at === this.last) out.push(element("p", "ending", this.ending));
    out.push(element("h4", "", "Variables that change on the way, after this step"), this.table(changes));
    return out;
  }

  table(changes) {
    const changed = new Set(changes.map((c) => c.name));
    const table = element("table");
    const row = table.createTHead().insertRow();
    for (const name of ["variable", "value"]) {
      const head = element("th", "", name);
      head.scope = "col";
      row.append(head);
    }
    const body = table.createTBody();
    for (const [name, value] of this.variables()) {
      const row = body.insertRow();
      row.className = changed.has(name) ? "changed" : "";
      row.insertCell().textContent = name;
      row.insertCell().textContent = value;
    }
    return table;
  }
}

// Scrolls inside `box` only, not the page.
function reveal(box, item) {
  const [outer, inner] = [box.getBoundingClientRect(), item.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) {
    box.scrollTop += (inner.top + inner.bottom - outer.top - outer.bottom) / 2;
  }
}

// Goes to the place that the address names: #step=5, or #violation=2&step=5.
function follow() {
  const place = new URLSearchParams(location.hash.slice(1));
  const stepper = steppers.find((s) => s.number === Number(place.get("violation") ?? 1));
  if (!stepper || !place.has("step")) return;
  stepper.show(Number(place.get("step")) || 1);
}

let active;
const steppers = [];

function start() {
  document.querySelectorAll("table.sortable").forEach(sortable);
  for (const root of document.querySelectorAll(".stepper")) {
    const stepper = new Stepper(root);
    steppers.push(stepper);
    stepper.show(stepper.first, true);
  }
  active = steppers[0];
  addEventListener("hashchange", follow);
  addEventListener("keydown", (event) => {
    const go = { ArrowLeft: "previous", ArrowRight: "next" }[event.key];
    const plain = !event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    // Where something can be scrolled sideways the keys do that.
    const wide = document.activeElement.closest?.(".scroll");
    if (!go || !plain || !active || (wide && wide.scrollWidth > wide.clientWidth)) return;
    event.preventDefault();
    active.go(go);
  });
  follow();
  // Tests look for this.
  document.documentElement.dataset.ready = "yes";
}

start();
