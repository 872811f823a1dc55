/** A drill against a destination: `POST /v1/destinations/{id}/prove`. */
import type { Context } from 'hono';
import { wishOf } from '../../core/drill.ts';
import type { Signed } from '../../http/auth.ts';
import { type Problem, problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { drillReportOf } from '../commands/drill-report.ts';
import { type Proved, prove } from '../commands/prove.ts';
import { proveBody } from '../contract/inputs.ts';
import { readDecision } from './decision-input.ts';
import { refusedProblem } from './decisions.ts';
import type { On } from './on.ts';
import { destinationSegment } from './segments.ts';

type Needs = Pick<World, 'ledger' | 'sender' | 'secrets' | 'clock' | 'dice' | 'telemetry'>;

export const addDrillRoutes = (on: On, world: Needs): void => {
  on('proveDestination', (context) => onProve(context, world));
};

const onProve = async (context: Context<Signed>, world: Needs): Promise<Response> => {
  const segment = destinationSegment(context);
  if (segment.kind === 'bad') return problem(context, segment.problem);
  const read = await readDecision(context, proveBody);
  if (read.kind === 'bad') return problem(context, read.problem);
  const { request, actor, body } = read.value;
  const destination = segment.value;
  const { reason, evenIfPaused } = body;
  const wish = wishOf(body.parts, body.burst);
  const done = await prove(world, { request, actor, reason, destination, wish, evenIfPaused });
  if (done.kind !== 'done') return problem(context, proveProblem(destination, done));
  const { config, parts } = done;
  const at = new Date(done.atMs).toISOString();
  return context.json({
    ...drillReportOf({ destination, at, repeatSafe: config.repeatSafe, parts }),
    decision: request,
  });
};

export const proveProblem = (destination: string, refused: Exclude<Proved, { kind: 'done' }>): Problem => {
  switch (refused.kind) {
    case 'paused': {
      const { by, reason, sinceMs } = refused.pause;
      const detail = `destination ${destination} is paused since ${iso(sinceMs)} by ${by}: ${reason}. With evenIfPaused: true, the drill is run all the same`;
      return { status: 409, code: 'destination-paused', detail };
    }
    case 'closed': {
      const detail = `destination ${destination} has asked for time until ${iso(refused.untilMs)}: run the drill then`;
      return { status: 409, code: 'destination-closed', detail };
    }
    case 'shadow': {
      const detail = `destination ${destination} is in shadow mode: nothing is sent there, a drill neither`;
      return { status: 409, code: 'shadow-mode', detail };
    }
    case 'no-secret': {
      const detail = `destination ${destination} has no signing secret that can be used: rotate it first`;
      return { status: 409, code: 'no-secret', detail };
    }
    case 'over': {
      const detail = `this request has had its drill, decided at ${iso(refused.decidedAtMs)}; what it saw was in that answer only. For another drill, use another request id`;
      return { status: 409, code: 'drill-over', detail };
    }
    case 'running': {
      const detail = `this request has a drill under way, decided at ${iso(refused.sinceMs)}: its answer goes to whoever asked first`;
      return { status: 409, code: 'drill-running', detail };
    }
    case 'absent':
    case 'reused':
    case 'newer':
      return refusedProblem(destination, refused.kind);
  }
};

const iso = (ms: number): string => new Date(ms).toISOString();
