/** What a form sends: read once, bounded, and only from a page of ours. */
import { rawBody } from '../../../http/body.ts';
import type { Read } from '../../api/segments.ts';
import type { Frame } from '../frame.ts';
import { isOwnForm } from '../session.ts';

const FORM = /^application\/x-www-form-urlencoded\b/i;

export const readForm = async ({ context, visitor }: Frame): Promise<Read<URLSearchParams>> => {
  if (!FORM.test(context.req.header('content-type') ?? '')) {
    const detail = 'a page of the console sends application/x-www-form-urlencoded; programs use the API';
    return { kind: 'bad', problem: { status: 415, code: 'not-a-form', detail } };
  }
  const form = new URLSearchParams(Buffer.from(await rawBody(context)).toString('utf8'));
  if (isOwnForm(visitor, form.get('mark') ?? '')) return { kind: 'ok', value: form };
  const detail = 'this form is not of your session: open the page again, and send it from there';
  return { kind: 'bad', problem: { status: 403, code: 'foreign-form', detail } };
};

/** A whole number as it was typed; what is none goes on as it is, and the schema refuses it by name. */
export const numberIn = (form: URLSearchParams, name: string): unknown => {
  const text = form.get(name)?.trim();
  if (text === undefined || text === '') return undefined;
  return /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : text;
};

export const textIn = (form: URLSearchParams, name: string): string | undefined => form.get(name) || undefined;

export const isTicked = (form: URLSearchParams, name: string): boolean => form.get(name) === 'yes';

/** Only what is given: a schema is strict about the rest. */
export const givenOnly = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
