import { describe, expect, it } from 'vitest';
import { readTraceparent, traceparentOf } from '../../functions/core/trace.ts';
import { claimIdOf, eventIdOf } from '../support/machine.ts';

/** The example of W3C Trace Context, section 3.2. */
const GIVEN = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const VALID = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const [event, other] = [eventIdOf('order-17'), eventIdOf('order-18')];
const [first, second] = [claimIdOf('c-1'), claimIdOf('c-2')];

describe('a traceparent that came in', () => {
  it('is taken as it stands when the specification allows it', () => {
    expect(readTraceparent(GIVEN)).toBe(GIVEN);
    expect(readTraceparent(GIVEN.replace(/01$/, '00'))).toBe(GIVEN.replace(/01$/, '00'));
  });

  it.each([
    ['no header', undefined],
    ['an empty one', ''],
    ['capital letters', GIVEN.toUpperCase()],
    ['another version', GIVEN.replace(/^00/, '01')],
    ['the forbidden version', GIVEN.replace(/^00/, 'ff')],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    ['a parent id of zeros', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
    ['a short id', GIVEN.replace('4bf9', '4bf')],
    ['more behind it', `${GIVEN}-00`],
    ['a second value', `${GIVEN}, ${GIVEN}`],
    ['a line break', `${GIVEN}\n`],
    ['blanks around it', ` ${GIVEN} `],
  ])('is dropped when it is not valid: %s', (_name, value) => {
    expect(readTraceparent(value)).toBeUndefined();
  });
});

describe('the traceparent of an attempt', () => {
  it('goes on with the trace that was given, in a span of its own, with the flags as they were', () => {
    const sent = traceparentOf(event, first, GIVEN.replace(/01$/, '00'));
    expect(sent).toMatch(VALID);
    expect(sent.slice(0, 35)).toBe(GIVEN.slice(0, 35));
    expect(sent.slice(36, 52)).not.toBe(GIVEN.slice(36, 52));
    expect(sent.endsWith('-00')).toBe(true);
  });

  it('has one trace for an event and one span for an attempt, always the same', () => {
    const one = traceparentOf(event, first, undefined);
    expect(one).toMatch(VALID);
    expect(traceparentOf(event, first, undefined)).toBe(one);
    expect(traceparentOf(event, second, undefined).slice(0, 35)).toBe(one.slice(0, 35));
    expect(traceparentOf(event, second, undefined).slice(36, 52)).not.toBe(one.slice(36, 52));
    expect(traceparentOf(other, first, undefined).slice(3, 35)).not.toBe(one.slice(3, 35));
  });

  it('is valid even where what was given is not', () => {
    expect(traceparentOf(event, first, 'rubbish')).toBe(traceparentOf(event, first, undefined));
  });
});
