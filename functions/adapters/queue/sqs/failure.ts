/**
 * What a call to SQS that did not work out means. Names and statuses only: the texts of the service may quote what was
 * sent. The names are those of its API reference, with and without the prefix of its older protocol.
 */

export type SqsFailure =
  | 'unauthorized'
  | 'throttled'
  | 'refused'
  /** No answer, or one that the queue could not make: the call may have done its work all the same. */
  | 'unavailable';

export interface Failed {
  readonly kind: 'failed';
  readonly code: SqsFailure;
  readonly detail: string;
  /** The service's own name of the refusal, without its prefix. */
  readonly name: string;
}

const THROTTLED =
  /^(RequestThrottled|Throttling\w*|TooManyRequestsException|KmsThrottled|OverLimit|RequestLimitExceeded)$/;
const UNAUTHORIZED =
  /^(AccessDenied\w*|InvalidClientTokenId|UnrecognizedClient\w*|SignatureDoesNotMatch|InvalidSignature\w*|ExpiredToken\w*|MissingAuthenticationToken\w*|InvalidSecurity|KmsAccessDenied|CredentialsProviderError)$/;

export const failureOf = (error: unknown, ended: boolean, tryMs: number): Failed => {
  if (ended) return failed('unavailable', `no answer within ${tryMs} ms`, 'TimeoutError');
  const name = nameOf(error);
  const status = statusOf(error);
  const told = `${status === undefined ? '' : `status ${status}, `}${name}`;
  if (THROTTLED.test(name) || status === 429) return failed('throttled', `SQS wants fewer calls (${told})`, name);
  if (UNAUTHORIZED.test(name) || status === 401) {
    return failed('unauthorized', `SQS refuses the credentials of this function (${told})`, name);
  }
  if (status === undefined) return failed('unavailable', `SQS could not be reached: ${codeOf(error) ?? name}`, name);
  if (status >= 500 || status === 408 || status < 400) {
    return failed('unavailable', `SQS is not able to answer (${told})`, name);
  }
  if (/^(QueueDoesNotExist|NonExistentQueue)$/.test(name)) {
    return failed('refused', `there is no such queue: is its URL right? (${told})`, name);
  }
  return failed('refused', `SQS refuses (${told})`, name);
};

const failed = (code: SqsFailure, detail: string, name: string): Failed => ({ kind: 'failed', code, detail, name });

const nameOf = (error: unknown): string => {
  const name = error instanceof Error ? error.name.replace(/^.*\./, '').replace(/^.*#/, '') : '';
  return /^[A-Za-z]{1,80}$/.test(name) ? name : 'unknown error';
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** Of the answer, where there was one. */
const statusOf = (error: unknown): number | undefined => {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined;
  const metadata = error.$metadata;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
};
