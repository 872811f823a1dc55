/**
 * What a page gains with JavaScript; without it every page works the same, by links and forms.
 *
 *   live      parts with `data-live` are fetched again as long as the page is in sight and nobody is in a dialog
 *   dialog    a link with `data-dialog` opens the page it leads to in a dialog
 *   keys      g and a letter goes somewhere; / finds; j, k and Enter walk a table; ? says so
 *   forms     a form is sent once: its button is off after that
 *   choices   boxes of a table are counted, and can be ticked together
 *
 * Whatever it puts into a page comes from this same server as a whole page, in which it was escaped.
 */
export const SCRIPT = `
'use strict';
(() => {
  const root = document.documentElement;
  root.classList.add('js');
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const load = async (address) => {
    const answer = await fetch(address, { headers: { accept: 'text/html' }, credentials: 'same-origin' });
    if (answer.redirected || !answer.ok) return undefined;
    return new DOMParser().parseFromString(await answer.text(), 'text/html');
  };

  // ---- live
  const refresh = async () => {
    const parts = all('[data-live]');
    const shortest = Math.min(...parts.map((part) => Number(part.dataset.live)));
    if (!Number.isFinite(shortest)) return;
    await new Promise((wait) => setTimeout(wait, shortest * 1000));
    const busy = document.hidden || document.querySelector('dialog[open]') || document.activeElement?.closest('[data-live]');
    if (!busy) {
      try {
        const fresh = await load(location.href);
        for (const part of fresh ? all('[data-live]') : []) {
          const next = fresh.getElementById(part.id);
          if (next) part.replaceWith(document.adoptNode(next));
          else part.removeAttribute('data-live');
        }
      } catch { /* out of reach for a moment: the next round tries again */ }
    }
    refresh();
  };
  refresh();

  // ---- dialogs
  const dialog = document.createElement('dialog');
  document.body.append(dialog);
  const open = (content, label) => {
    dialog.replaceChildren(...content);
    dialog.setAttribute('aria-label', label);
    dialog.showModal();
    wire(dialog);
    (dialog.querySelector('[autofocus]') ?? dialog.querySelector('input:not([type=hidden]), textarea, button'))?.focus();
  };
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog || event.target.closest('[data-close]')) { event.preventDefault(); dialog.close(); }
  });
  document.addEventListener('click', async (event) => {
    const link = event.target.closest('a[data-dialog]');
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    const page = await load(link.href).catch(() => undefined);
    const main = page?.querySelector('main');
    if (!main) location.assign(link.href);
    else open([...main.childNodes].map((node) => document.adoptNode(node)), link.textContent.trim());
  });

  // ---- forms and choices
  const wire = (within) => {
    for (const form of all('form[method=post]', within)) {
      form.addEventListener('submit', () => setTimeout(() => all('button', form).forEach((one) => { one.disabled = true; })));
    }
    for (const box of all('input[data-all]', within)) {
      const form = box.closest('form');
      const boxes = all('input[name=pick]', form);
      const say = () => {
        const chosen = boxes.filter((one) => one.checked).length;
        const text = form.querySelector('[data-chosen]');
        if (text) text.textContent = chosen === 0 ? 'Nothing chosen yet' : chosen + (chosen === 1 ? ' delivery chosen' : ' deliveries chosen');
        box.checked = chosen > 0 && chosen === boxes.length;
        box.indeterminate = chosen > 0 && chosen < boxes.length;
      };
      box.addEventListener('change', () => { for (const one of boxes) one.checked = box.checked; say(); });
      for (const one of boxes) one.addEventListener('change', say);
      say();
    }
  };
  wire(document);
  // A page that comes back by the browser's own way back may be sent again.
  addEventListener('pageshow', () => all('button[disabled]').forEach((one) => { one.disabled = false; }));

  // ---- keys
  const places = {};
  for (const link of all('nav.main a[data-key]')) places[link.dataset.key] = link.href;
  let awaiting = 0;
  let at = -1;
  const walk = (step) => {
    const rows = all('main tbody tr');
    if (rows.length === 0) return;
    rows[at]?.classList.remove('at');
    at = Math.max(0, Math.min(rows.length - 1, at + step));
    rows[at].classList.add('at');
    rows[at].querySelector('a')?.focus({ preventScroll: true });
    rows[at].scrollIntoView({ block: 'nearest' });
  };
  addEventListener('keydown', (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || dialog.open) return;
    if (event.target.closest('input, textarea, select')) { if (event.key === 'Escape') event.target.blur(); return; }
    if (Date.now() - awaiting < 1200 && places[event.key]) { awaiting = 0; location.assign(places[event.key]); return; }
    if (event.key === 'g') { awaiting = Date.now(); return; }
    if (event.key === '/') { const find = document.querySelector('.find input'); if (find) { event.preventDefault(); find.focus(); } }
    if (event.key === 'j') walk(1);
    if (event.key === 'k') walk(-1);
    if (event.key === '?') {
      const help = document.getElementById('keys');
      if (help) open([document.importNode(help.content, true)], 'Keyboard');
    }
  });
})();
`;
