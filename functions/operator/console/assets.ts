/** Style, script and mark, under addresses that change with their content: a browser keeps them, and never a stale one. */
import { createHash } from 'node:crypto';
import type { Hono } from 'hono';
import { HOME } from './links.ts';
import { SCRIPT } from './script.ts';
import type { Seen } from './session.ts';
import { STYLE } from './style.ts';

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#3a4fc4"/><g fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round"><path d="M5.5 8h5M5.5 12h5M5.5 16h5"/><path d="M10.5 8c3 0 3 4 5.500 4M10.5 16c3 0 3-4 5.500-4"/></g><circle cx="18" cy="12" r="2" fill="#fff"/></svg>`;

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly body: string;
}

const asset = (name: string, type: string, body: string): Asset => {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12);
  const dot = name.lastIndexOf('.');
  return { path: `${HOME}/assets/${name.slice(0, dot)}-${hash}${name.slice(dot)}`, type, body };
};

export const STYLE_SHEET = asset('console.css', 'text/css; charset=utf-8', STYLE);
export const PAGE_SCRIPT = asset('console.js', 'text/javascript; charset=utf-8', SCRIPT);
export const PAGE_ICON = asset('icon.svg', 'image/svg+xml', ICON);

/** They hold nothing of anybody, so they need no session. */
export const addAssets = (app: Hono<Seen>): void => {
  for (const { path, type, body } of [STYLE_SHEET, PAGE_SCRIPT, PAGE_ICON]) {
    app.get(path, (context) =>
      context.body(body, 200, { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' }),
    );
  }
};
