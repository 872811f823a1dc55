/**
 * Pictures of every view of the console, narrow and wide, dark and light, for a person to look at:
 *
 *   npm run screenshots -- [FOLDER [VIEW ...]]     the folder is one of the system's for passing files, if none is named
 */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import type { Page } from 'playwright-core';
import { type ConsoleScene, openConsoleScene } from '../support/console-scene.ts';
import { browserPath, openBrowser } from './browser.ts';

const viewsOf = ({ operations }: ConsoleScene): Readonly<Record<string, string>> => ({
  overview: '/console',
  open: '/console/deliveries?list=open',
  parked: '/console/deliveries?list=parked',
  recent: '/console/deliveries?list=recent&destination=orders',
  quarantine: '/console/quarantine',
  'delivery-quarantined': '/console/events/parcel-501/deliveries/warehouse',
  'delivery-retried': '/console/events/payment-201/deliveries/payments',
  'delivery-in-doubt': '/console/events/push-301/deliveries/push',
  'delivery-resolved': '/console/events/push-303/deliveries/push',
  'delivery-parked': '/console/events/reminder-701/deliveries/reminders',
  redrive: '/console/events/parcel-501/deliveries/warehouse/redrive',
  'redrive-in-doubt': '/console/events/push-301/deliveries/push/redrive',
  resolve: '/console/events/push-301/deliveries/push/resolve',
  event: '/console/events/order-101',
  destinations: '/console/destinations',
  destination: '/console/destinations/warehouse',
  shadow: '/console/destinations/orders-shadow',
  'shadow-report': '/console/destinations/orders-shadow/shadow?per=hour&sent=9',
  pause: '/console/destinations/orders/pause',
  redrives: '/console/redrives',
  'redrive-plan-form': '/console/redrives/new',
  'redrive-planned': `/console/redrives/${operations.planned}`,
  'redrive-done': `/console/redrives/${operations.done}`,
  audit: '/console/audit',
  missing: '/console/events/nobody-knows-it',
});

/** What opens over a page. */
const OPENED: Readonly<Record<string, { readonly at: string; readonly open: (page: Page) => Promise<unknown> }>> = {
  'dialog-redrive': {
    at: '/console/events/parcel-501/deliveries/warehouse',
    open: (page) => page.getByRole('link', { name: 'Redrive', exact: true }).click(),
  },
  'dialog-keys': { at: '/console', open: (page) => page.keyboard.press('?') },
  'quarantine-chosen': { at: '/console/quarantine', open: (page) => page.getByText('All on this page').click() },
  'quarantine-preview': {
    at: '/console/quarantine',
    open: async (page) => {
      await page.getByText('All on this page').click();
      await page.getByRole('button', { name: 'Redrive chosen' }).click();
    },
  },
};

const SIZES = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } } as const;

const signIn = async (page: Page, url: string, token: string): Promise<void> => {
  await page.goto(`${url}/console`);
  await page.fill('input[name=token]', token);
  await page.click('button');
  await page.waitForSelector('nav.main');
};

const take = async (): Promise<void> => {
  const path = browserPath();
  if (path === undefined) throw new Error('no browser: set CHROMIUM, or install chromium');
  const [folder = mkdtempSync(join(tmpdir(), 'onceward-screenshots-')), ...only] = process.argv.slice(2);
  mkdirSync(folder, { recursive: true });
  const scene = await openConsoleScene();
  const server = createServer(getRequestListener((request) => scene.world.apps.operator.request(request.url, request)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const browser = await openBrowser(path);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport] of Object.entries(SIZES)) {
      const context = await browser.newContext({ colorScheme, viewport });
      const page = await context.newPage();
      page.on(
        'console',
        (message) => message.type() === 'error' && console.log(`${message.type()}: ${message.text()}`),
      );
      await page.goto(`${url}/console`);
      if (only.length === 0) await page.screenshot({ path: join(folder, `sign-in-${size}-${colorScheme}.png`) });
      await signIn(page, url, scene.world.token('admin'));
      for (const [name, at] of Object.entries(viewsOf(scene))) {
        if (only.length > 0 && !only.includes(name)) continue;
        await page.goto(`${url}${at}`);
        await page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`), fullPage: true });
      }
      for (const [name, { at, open }] of Object.entries(OPENED)) {
        if (only.length > 0 && !only.includes(name)) continue;
        await page.goto(`${url}${at}`);
        await open(page);
        await page.waitForLoadState('networkidle');
        await page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`) });
      }
      await context.close();
    }
  }
  await browser.close();
  server.close();
  console.log(`pictures in ${folder}`);
};

await take();
process.exit(0);
