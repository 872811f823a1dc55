/** The long form of the race: two hundred rounds of a hundred pushes. */

import { describe, it } from 'vitest';
import { expectOneSend, racePushes } from '../support/rival-pushes.ts';

describe('a hundred pushes of one delivery at once', () => {
  it('send exactly one request, in each of two hundred rounds', async () => {
    for (let round = 1_000; round < 1_200; round += 1) await expectOneSend(await racePushes(round, 100));
  });
});
