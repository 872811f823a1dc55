/** Addresses of the console. An id is percent-encoded once, here and nowhere else. */
import { html } from 'hono/html';
import { clipped, type Html } from './text.ts';

export const HOME = '/console';

const segment = encodeURIComponent;

export const eventPath = (event: string): string => `${HOME}/events/${segment(event)}`;

/** A delivery by its two ids, also where nothing has checked them. */
export interface Named {
  readonly event: string;
  readonly destination: string;
}

export const deliveryPath = ({ event, destination }: Named): string =>
  `${eventPath(event)}/deliveries/${segment(destination)}`;

export const destinationPath = (destination: string): string => `${HOME}/destinations/${segment(destination)}`;

export const shadowPath = (destination: string): string => `${destinationPath(destination)}/shadow`;

export const redrivePath = (operation: string): string => `${HOME}/redrives/${segment(operation)}`;

export type Parameters = Readonly<Record<string, string | undefined>>;

/** A path with the parameters that are given. */
export const withQuery = (path: string, parameters: Parameters): string => {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name}=${segment(value)}`],
  );
  return given.length === 0 ? path : `${path}?${given.join('&')}`;
};

export const listPath = (list: string, parameters: Parameters = {}): string =>
  withQuery(`${HOME}/deliveries`, { list, ...parameters });

export const eventLink = (event: string): Html => html`<a class="id" href="${eventPath(event)}">${clipped(event)}</a>`;

export const deliveryLink = (ref: Named): Html =>
  html`<a class="id" href="${deliveryPath(ref)}">${clipped(ref.event)}</a>`;

export const destinationLink = (destination: string): Html =>
  html`<a class="id" href="${destinationPath(destination)}">${clipped(destination)}</a>`;

export const redriveLink = (operation: string, characters?: number): Html =>
  html`<a class="id" href="${redrivePath(operation)}">${clipped(operation, characters)}</a>`;
