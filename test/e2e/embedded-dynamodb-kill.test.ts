import { describe, expect, it } from 'vitest';
import { openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { type Level, openLevel, readAll } from '../../infra/local/dynamodb/level.ts';
import { indexPrefix, itemPrefix } from '../../infra/local/dynamodb/store.ts';
import { inDirectory, judge, killRounds, writeUntilKilled } from '../support/dynamodb-kill.ts';
import { KILL_TABLE } from '../support/dynamodb-kill-model.ts';

describe('the embedded DynamoDB under SIGKILL', () => {
  it('loses no acknowledged write and keeps table and indexes together (3 kills)', async () => {
    const { wrong, acks } = await killRounds(3, 11);
    expect(wrong).toEqual([]);
    expect(acks).toBeGreaterThan(3);
  });

  it('says so when the directory is in use by another process, and leaves that process alone', async () => {
    await inDirectory(async (path) => {
      const opened = { says: '' };
      const killed = await writeUntilKilled(path, 5, 20, {}, async () => {
        await openEmbeddedDynamo({ path }).catch((error: Error) => {
          opened.says = error.message;
        });
      });
      expect(opened.says).toContain(`data directory ${path} is in use by another process`);
      expect(killed.broken).toEqual([]);
      expect((await judge(path, 5, killed.acknowledged)).lost).toEqual([]);
    });
  });
});

/** The same checks on a store that was spoiled behind the engine's back: they have to find it. */
describe('the check of a killed store', () => {
  const spoilt = (spoil: (level: Level) => Promise<void>) =>
    inDirectory(async (path) => {
      const { acknowledged } = await writeUntilKilled(path, 3, 40, {});
      const { versions, lost, apart } = await judge(path, 3, acknowledged);
      expect([lost, apart]).toEqual([[], []]);
      const level = await openLevel(path);
      await spoil(level);
      await level.close();
      return judge(path, 3, versions);
    });
  const under = (level: Level, prefix: string) => readAll(level, { gt: prefix, lt: `${prefix}~` });
  const due = indexPrefix('global', KILL_TABLE, 'due');

  it('finds a row that an index has lost', async () => {
    const { lost, apart } = await spoilt(async (level) => {
      const [row] = await under(level, due);
      await level.batch([{ type: 'del', key: row?.[0] ?? '' }], { sync: false });
    });
    expect(lost).toEqual([]);
    expect(apart).toEqual([expect.stringMatching(/^due lacks /)]);
  });

  it('finds a row that an index has kept by mistake', async () => {
    const { apart } = await spoilt(async (level) => {
      const [row] = await under(level, due);
      await level.batch([{ type: 'put', key: `${row?.[0]}again/`, value: row?.[1] }], { sync: false });
    });
    expect(apart).toEqual([expect.stringMatching(/^due should not have /)]);
  });

  it('finds an acknowledged write that is gone', async () => {
    const { lost } = await spoilt(async (level) => {
      const [item] = await under(level, itemPrefix(KILL_TABLE));
      await level.batch([{ type: 'del', key: item?.[0] ?? '' }], { sync: false });
    });
    expect(lost).toEqual([expect.stringMatching(/^key-\d+ is not at \d+ or \d+: absent$/)]);
  });
});
