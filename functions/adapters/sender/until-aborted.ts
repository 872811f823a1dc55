/**
 * Waits for a promise until a signal fires, then rejects with the signal's reason. The promise is left to itself: its
 * late answer goes nowhere, its late failure is no unhandled rejection.
 */
export const untilAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
