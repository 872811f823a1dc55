/**
 * The route of intake. Its schema is for the document and for those who generate from it: a payload is kept byte for
 * byte, so the body itself is read from its text (`core/submission.ts`). A test holds the two against each other.
 */
import * as z from 'zod/mini';
import {
  CONTENT_TYPE_CHARS_MAX,
  DESTINATIONS_PER_EVENT_MAX,
  EVENTS_PER_REQUEST_MAX,
  ID_BYTES_MAX,
  TYPE_CHARS_MAX,
} from '../core/limits.ts';
import type { Route } from './route.ts';

const id = z.string().check(z.meta({ minLength: 1, maxLength: ID_BYTES_MAX }));

const submission = z.strictObject({
  id,
  type: z.nullish(z.string().check(z.minLength(1), z.maxLength(TYPE_CHARS_MAX))),
  payload: z.optional(z.unknown().check(z.meta({ description: 'any JSON; its bytes are kept as they are' }))),
  payloadBase64: z.optional(z.string().check(z.meta({ contentEncoding: 'base64', description: 'instead of payload' }))),
  contentType: z.optional(z.string().check(z.minLength(3), z.maxLength(CONTENT_TYPE_CHARS_MAX))),
  destinations: z
    .array(id)
    .check(z.minLength(1), z.maxLength(DESTINATIONS_PER_EVENT_MAX), z.meta({ uniqueItems: true })),
  deliverAt: z.nullish(
    z.union([
      z.string().check(z.meta({ format: 'date-time', description: 'RFC 3339 with an offset' })),
      z.int().check(z.meta({ description: 'milliseconds since 1970' })),
    ]),
  ),
});

export const SUBMIT = {
  method: 'post',
  path: '/v1/events',
  right: 'send',
  body: z.union([submission, z.array(submission).check(z.minLength(1), z.maxLength(EVENTS_PER_REQUEST_MAX))]),
} as const satisfies Route;
