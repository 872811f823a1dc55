/** A flow in which every clock that is read is behind the true one, by as much as a test says at the moment. */
import { openFlow } from './flow.ts';

export const openLaggingFlow = () => {
  const lag = { ms: 0 };
  const flow = openFlow({
    reshape: (ports) => ({ ...ports, clock: { ...ports.clock, nowMs: () => ports.clock.nowMs() - lag.ms } }),
  });
  return { flow, lag };
};
