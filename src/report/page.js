// page.js: the theme button, and the elimination step by step.  Without it, the page shows all of it.
'use strict';

(function theme() {
  const button = document.getElementById('theme'), root = document.documentElement;
  const words = ['auto', 'light', 'dark'];
  let at = 0;
  function show() {
    if (at) root.dataset.theme = words[at]; else delete root.dataset.theme;
    button.textContent = 'Theme: ' + words[at];
  }
  button.hidden = false;
  button.addEventListener('click', function () { at = (at + 1) % words.length; show(); });
})();

(function steps() {
  const box = document.getElementById('stepper'), table = document.getElementById('steps-table');
  if (!box || !table) return;
  const rows = Array.from(table.tBodies[0].rows).filter(function (row) { return row.dataset.node !== undefined; });
  const nodes = {};
  document.querySelectorAll('#graph g.node').forEach(function (g) {
    const title = g.querySelector('title');
    if (title) nodes[title.textContent] = g;
  });
  const total = {};
  rows.forEach(function (row) { total[row.dataset.node] = (total[row.dataset.node] || 0) + 1; });
  const text = box.querySelector('p'), count = box.querySelector('.count');
  const back = box.querySelector('.back'), next = box.querySelector('.next'), first = box.querySelector('.first');
  let at = -1;
  function cell(row, k) { return row.cells[k].textContent; }
  function show(to) {
    at = Math.max(-1, Math.min(rows.length - 1, to));
    const done = {};
    rows.forEach(function (row, i) {
      row.classList.toggle('now', i === at);
      if (i < at) done[row.dataset.node] = (done[row.dataset.node] || 0) + 1;
    });
    const now = at < 0 ? null : rows[at].dataset.node;
    Object.keys(nodes).forEach(function (name) {
      const node = name.slice(1);
      nodes[name].classList.toggle('now', node === now);
      nodes[name].classList.toggle('gone', name[0] === 'm' && node !== now && total[node] > 0 && done[node] === total[node]);
    });
    back.disabled = first.disabled = at < 0;
    next.disabled = at === rows.length - 1;
    const focus = document.activeElement; // keys do not reach a button that is disabled
    if (box.contains(focus) && focus.disabled) (focus === next ? back : next).focus();
    count.textContent = at < 0 ? rows.length + ' steps' : 'Step ' + cell(rows[at], 0);
    text.textContent = at < 0 ? 'The moral graph of the model: nothing is eliminated yet.' :
      'Eliminate ' + cell(rows[at], 2) + ' (candidates and their new edges: ' + cell(rows[at], 1) + '). Its factor is ' +
      cell(rows[at], 4) + ': ' + cell(rows[at], 5) + '. New edges: ' + cell(rows[at], 3) + '.';
  }
  first.addEventListener('click', function () { show(-1); });
  back.addEventListener('click', function () { show(at - 1); });
  next.addEventListener('click', function () { show(at + 1); });
  box.addEventListener('keydown', function (event) {
    if (event.key === 'ArrowRight') show(at + 1);
    else if (event.key === 'ArrowLeft') show(at - 1);
    else if (event.key === 'Home') show(-1);
    else if (event.key === 'End') show(rows.length - 1);
    else return;
    event.preventDefault();
  });
  box.hidden = false;
  show(-1);
})();

window.addEventListener('beforeprint', function () {
  document.querySelectorAll('details').forEach(function (d) { d.open = true; });
});
