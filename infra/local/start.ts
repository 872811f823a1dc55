/** `npm start`: the local world, until SIGTERM or SIGINT. */
import { join } from 'node:path';
import { systemClock, systemDice } from '../../functions/adapters/system.ts';
import { createTelemetry } from '../../functions/adapters/telemetry.ts';
import { ConfigError, environment, readLocalConfig, readPushScheme } from '../../functions/config.ts';
import { keptSecret } from './token.ts';
import { type LocalWorld, openWorld } from './world.ts';

const TICK_MS = 2_000;

const banner = (world: LocalWorld, token: string | undefined, dataDir: string): string =>
  [
    '',
    `  Onceward is up at ${world.url}`,
    `  the console: ${world.url}/console`,
    `  data in ${dataDir}`,
    ...(token === undefined ? ['  admin token: the one in ONCEWARD_TOKEN'] : [`  admin token: ${token}`]),
    '',
    '  README.md shows a first event in three curls. Ctrl-C ends it; what was accepted stays.',
    '',
  ].join('\n');

const CUT_OFF =
  '  Onceward has stopped. Attempts on their way were cut off: their deliveries go on when their leases have lapsed, or\n' +
  '  wait as in-doubt for a person where a repeat is not safe.';

const PARENT_LOOK_MS = 500;

/** A signal to npm ends the shell between npm and this process, and does not come here: the loss of the parent does. */
const endWithParent = (end: () => void): void => {
  const parent = process.ppid;
  const look = (): void => {
    if (process.ppid === parent) systemClock.after(PARENT_LOOK_MS, look);
    else end();
  };
  look();
};

const start = async (): Promise<void> => {
  const env = environment();
  const config = readLocalConfig(env);
  const token = config.token ?? (await keptSecret(config.dataDir, 'admin-token', systemDice)).text;
  const pushSecret = config.pushSecret ?? (await keptSecret(config.dataDir, 'push-secret', systemDice)).text;
  const world = await openWorld({
    port: config.port,
    dataDir: join(config.dataDir, 'dynamodb'),
    token,
    pushScheme: readPushScheme({ ...env, ONCEWARD_PUSH_SECRET: pushSecret }),
    policy:
      config.localDestinations === 'allow'
        ? { allowLocal: true }
        : { allowLocal: false, deniedBy: 'ONCEWARD_LOCAL_DESTINATIONS=deny' },
    transport: config.transport,
    // A person reads this: lines, and no counts.
    telemetry: { ...createTelemetry(systemClock, (text) => console.log(text)), count: () => {} },
    tickMs: TICK_MS,
  });
  console.log(banner(world, config.token === undefined ? token : undefined, config.dataDir));
  const end = (): void => {
    console.log('  Onceward is stopping: it accepts nothing new, and attempts on their way have a moment to end.');
    world.close().then(
      (cutOff) => {
        console.log(cutOff ? CUT_OFF : '  Onceward has stopped. Nothing was on its way.');
        process.exit(0);
      },
      (error: unknown) => {
        console.error(`onceward did not end cleanly: ${String(error)}`);
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
  if (config.underNpm) endWithParent(end);
};

const args = process.argv.slice(2);
if (args.length > 0) {
  console.error(
    'npm start takes no arguments: its settings are environment variables, see README.md, "Settings of the local world"',
  );
  process.exit(args.includes('--help') ? 0 : 2);
}
start().catch((error: unknown) => {
  const text = error instanceof ConfigError || error instanceof Error ? error.message : String(error);
  console.error(`onceward cannot start: ${text}`);
  process.exit(1);
});
