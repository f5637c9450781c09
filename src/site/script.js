// Sorts and filters the table of kernels, and shows one launch at a time. Without it everything is shown.
'use strict';

function sortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = head.querySelector('button');
    const numbers = button.dataset.kind === 'number';
    const value = (row) => (numbers ? Number(row.cells[column].dataset.rank) : row.cells[column].textContent);
    button.addEventListener('click', () => {
      const descends = head.getAttribute('aria-sort') === 'ascending';
      heads.forEach((other) => other.setAttribute('aria-sort', 'none'));
      head.setAttribute('aria-sort', descends ? 'descending' : 'ascending');
      const order = (one, other) =>
        numbers ? value(one) - value(other) : value(one).localeCompare(value(other), undefined, { numeric: true });
      const rows = [...body.rows].sort((one, other) => (descends ? order(other, one) : order(one, other)));
      body.append(...rows);
    });
  });
}

function filterable(table, form) {
  const rows = [...table.tBodies[0].rows];
  const words = form.querySelector('#words');
  const boxes = [...form.querySelectorAll('input[type="checkbox"]')];
  const count = form.querySelector('#count');
  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const races = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !(races.has(row.dataset.race) && wanted.every((word) => text.includes(word)));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = `${shown} of ${rows.length} kernels`;
  };
  form.hidden = false;
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', filter);
  filter();
}

function slides(slider) {
  const figures = [...document.querySelectorAll('figure.launch')];
  const name = document.getElementById('launch-name');
  const show = () => {
    figures.forEach((figure, at) => { figure.hidden = at + 1 !== Number(slider.value); });
    name.textContent = `${slider.value} of ${figures.length}`;
    slider.setAttribute('aria-valuetext', figures[slider.value - 1].dataset.name);
  };
  slider.parentElement.hidden = false;
  slider.addEventListener('input', show);
  show();
}

// Says below a picture which thread and element the pointer is at.
function pointed(svg) {
  const said = svg.closest('div.panel').querySelector('.pointed');
  const cells = svg.dataset.cells.split(' ');
  const { left, pitch } = { left: Number(svg.dataset.left), pitch: Number(svg.dataset.pitch) };
  const rows = [...svg.querySelectorAll('text.row')].map((text) => ({ y: Number(text.getAttribute('y')) - 4, name: text.textContent }));
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const cell = cells[Math.floor(((event.clientX - box.left) * scale - left) / pitch)];
    const y = (event.clientY - box.top) * scale;
    const row = rows.find((candidate) => Math.abs(candidate.y - y) <= pitch / 2);
    said.textContent = cell !== undefined && row ? `${row.name}: element ${cell}` : '\u00a0';
  });
}

const table = document.getElementById('kernels');
if (table) {
  sortable(table);
  filterable(table, document.getElementById('filters'));
}
const slider = document.getElementById('launch');
if (slider) {
  slides(slider);
}
document.querySelectorAll('svg[data-cells]').forEach(pointed);
// A rule that a link leads to is opened.
const open = () => {
  const details = location.hash.startsWith('#rule-') && document.getElementById(location.hash.slice(1));
  if (details) {
    details.open = true;
  }
};
addEventListener('hashchange', open);
open();
