/** The schedule routes of the embedded queue. */
import * as answers from './answers.ts';
import { CronCreate } from './contract.ts';
import { type CronJob, type CronJobs, minutesOf } from './cron-jobs.ts';
import type { LocalContext } from './routes.ts';

const shown = ({ id, name, everyMinutes, url }: CronJob) => ({
  cron_id: id,
  name,
  schedule: everyMinutes === 1 ? '* * * * *' : `*/${everyMinutes} * * * *`,
  url,
  enabled: true,
});

export const cronRoutes = (jobs: CronJobs, say: answers.Answers) => {
  /** By the Idempotency-Key that made them. */
  const made = new Map<string, CronJob>();
  return {
    'cron.list': (c: LocalContext) => say.ok(c, { items: jobs.list().map(shown) }),
    'cron.create': async (c: LocalContext) => {
      const body: unknown = await c.req.json().catch(() => undefined);
      const read = CronCreate.safeParse(body);
      if (!read.success)
        return say.refused(c, answers.invalid(read.error.issues[0]?.message ?? 'the body is not right'));
      const { name, cron_expr, task, timeout_seconds = 300, headers = {} } = read.data;
      const everyMinutes = minutesOf(cron_expr);
      if (everyMinutes === undefined)
        return say.refused(c, answers.invalid('cron_expr: only every n minutes is known here'));
      const key = c.req.header('idempotency-key') ?? '';
      const known = made.get(key);
      const job = known ?? jobs.create({ name, everyMinutes, url: task, headers, timeoutMs: timeout_seconds * 1_000 });
      if (key !== '') made.set(key, job);
      return say.ok(c, { job_id: job.id });
    },
  };
};
