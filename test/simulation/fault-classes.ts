/**
 * Everything that goes wrong here, by name. Each class stands at one site and has a bound on its share of the calls that
 * pass there; how often it really happens is drawn for each history, and in most histories a class is off: faults that
 * are always on hide one another.
 */

export interface FaultClass {
  /** The family of reliability engineering that it belongs to; several classes make up one. */
  readonly family: string;
  readonly says: string;
  readonly site: Site;
  /** At most this share of what passes the site. */
  readonly shareMax: number;
}

export type Site =
  /** Any call of a port, by whoever. */
  | 'call'
  | 'read'
  | 'write'
  | 'index'
  | 'claim'
  | 'publish'
  | 'push'
  | 'letters'
  /** Between the re-check and the first byte. */
  | 'network'
  /** At the destination. */
  | 'answer'
  | 'tick'
  /** Decided once, when the history is planned. */
  | 'plan'
  /** Where only what falls upon any call can go wrong. */
  | 'none';

const fault = (site: Site, family: string, shareMax: number, says: string): FaultClass => ({
  site,
  family,
  shareMax,
  says,
});

export const FAULTS = {
  // ---- processes
  'crash-before': fault('call', 'F01', 0.02, 'a worker dies before its call is carried out'),
  'crash-after': fault('call', 'F01', 0.02, 'a worker dies after its call was carried out, before it has the answer'),
  freeze: fault('call', 'F02', 0.015, 'a worker stands still for 20 to 90 s and goes on'),
  'long-freeze': fault('call', 'F02', 0.01, 'a worker stands still for longer than two leases and goes on'),
  'stall-before-socket': fault('network', 'F02', 0.1, 'a worker stands still between its re-check and the first byte'),
  'freeze-with-answer': fault('network', 'F12', 0.15, 'a worker has its answer and stands still, often past its lease'),
  'crash-with-answer': fault('network', 'F01', 0.1, 'a worker dies while its request is under way, or with its answer'),
  'freeze-with-claim': fault('claim', 'F12', 0.2, 'a worker stands still between its claim and its re-check'),
  'crash-with-claim': fault('claim', 'F01', 0.5, 'a worker dies as soon as its claim stands'),
  // ---- ledger
  'read-fails': fault('read', 'F08', 0.06, 'a read has no answer'),
  'read-slow': fault('read', 'F08', 0.06, 'a read takes up to three seconds'),
  'read-hangs': fault('read', 'F08', 0.02, 'a read has no answer after nine seconds'),
  'write-not-applied': fault('write', 'F08', 0.06, 'a write is throttled: not applied, no answer'),
  'answer-lost': fault('write', 'F08', 0.07, 'a write is applied and its answer is lost'),
  'write-echoed': fault('write', 'F08', 0.07, 'the client repeats a write whose answer was lost, and is refused'),
  'write-late': fault('write', 'F08', 0.05, 'a write is applied after its worker has given it up'),
  'write-slow': fault('write', 'F08', 0.06, 'a write takes up to three seconds'),
  'index-lags': fault('index', 'F09', 0.5, 'an index does not show the latest writes'),
  'index-empty': fault('index', 'F09', 0.1, 'a page of an index comes back empty'),
  'ledger-outage': fault('plan', 'F08', 0.35, 'the ledger is away for seconds to minutes'),
  'long-ledger-outage': fault('plan', 'F08', 0.06, 'the ledger is away for more than an hour'),
  // ---- queue
  'publish-fails': fault('publish', 'F06', 0.12, 'a publish is refused'),
  'publish-unanswered': fault('publish', 'F06', 0.12, 'a publish is taken and reported as failed'),
  'message-lost': fault('publish', 'F06', 0.2, 'a publish is answered and its message never comes'),
  'message-early': fault('publish', 'F06', 0.06, 'the delay of a message is ignored'),
  'message-late': fault('publish', 'F04', 0.1, 'a message comes up to two hours late'),
  'message-very-late': fault('publish', 'F04', 0.03, 'a message comes days late'),
  'queue-outage': fault('plan', 'F06', 0.2, 'the queue takes nothing for a while'),
  'duplicate-now': fault('push', 'F03', 0.15, 'a message is pushed twice at the same moment'),
  'duplicate-later': fault('push', 'F03', 0.12, 'a message is pushed again, up to a minute later'),
  'duplicate-many': fault('push', 'F03', 0.03, 'a message is pushed a dozen times over hours'),
  reorder: fault('push', 'F04', 0.2, 'a later message is pushed first'),
  'ack-lost': fault('push', 'F05', 0.1, 'our 2xx is lost on its way to the queue'),
  'ack-late': fault('push', 'F05', 0.05, 'our 2xx comes behind the deadline of the queue'),
  'push-refused': fault('push', 'F25', 0.06, 'the platform refuses a push before any code of ours runs'),
  'forbidden-for-long': fault('plan', 'F25', 0.12, 'all pushes are refused for a while: a permission is gone'),
  'stats-fail': fault('letters', 'F13', 0.2, 'the statistics of the queue cannot be had'),
  'letters-hidden': fault('letters', 'F13', 0.2, 'the dead letters are not shown although there are some'),
  'redrive-ignored': fault('letters', 'F13', 0.9, 'the queue says done to a redrive and does nothing'),
  // ---- ticks
  'tick-missed': fault('tick', 'F21', 0.25, 'the schedule does not fire'),
  'tick-twice': fault('tick', 'F21', 0.25, 'the schedule fires twice for one minute'),
  'tick-anytime': fault('plan', 'F21', 0.7, 'the schedule fires at any second of the minute'),
  'sweep-slow': fault('plan', 'F21', 0.15, 'the schedule fires every fifteen minutes only'),
  'sweep-off': fault('plan', 'F21', 0.15, 'no sweep at all until the faults are over'),
  // ---- time
  'clock-skew': fault('plan', 'F11', 0.5, 'clocks differ by up to the margin'),
  'clock-wrong': fault('plan', 'F11', 0.05, 'a clock is wrong by five minutes'),
  'clock-step': fault('plan', 'F11', 0.1, 'a clock steps back by a minute'),
  // ---- network and destination
  'dns-fails': fault('network', 'F16', 0.06, 'the name of the destination has no address'),
  'dns-private': fault('network', 'F16', 0.02, 'the name resolves to an address inside'),
  'connect-refused': fault('network', 'F15', 0.08, 'nobody listens there'),
  'connect-hangs': fault('network', 'F15', 0.04, 'no connection within its time'),
  'tls-fails': fault('network', 'F15', 0.03, 'the certificate does not fit'),
  'answer-5xx': fault('answer', 'F15', 0.3, 'the destination fails'),
  'answer-gateway': fault('answer', 'F15', 0.1, 'a gateway answers; the request may have passed it'),
  'answer-throttles': fault('answer', 'F14', 0.12, 'the destination asks to come later, in every spelling'),
  'answer-refuses': fault('answer', 'F15', 0.06, 'the destination refuses by 4xx or a redirect'),
  'answer-rejects': fault('answer', 'F15', 0.02, 'the destination rejects by 422'),
  'answer-gone': fault('answer', 'F15', 0.015, 'the destination says that it is gone'),
  'answer-garbage': fault('answer', 'F15', 0.03, 'what comes back is no HTTP'),
  'answer-slow': fault('answer', 'F12', 0.08, 'a 2xx comes just inside the deadline'),
  'answer-broken': fault('answer', 'F15', 0.03, 'the body behind a 2xx breaks off'),
  'works-on': fault('plan', 'F12', 0.3, 'a destination works on for minutes behind an answer that never comes'),
  'answer-never': fault('answer', 'F15', 0.15, 'no answer, with or without an effect'),
  'answer-reset': fault('answer', 'F15', 0.08, 'the connection breaks, with or without an effect'),
  'destination-throttles': fault(
    'plan',
    'F14',
    0.15,
    'the destination asks everybody to wait, each time for another time',
  ),
  'destination-down': fault('plan', 'F15', 0.15, 'the destination fails or hangs for minutes'),
  // ---- data, people, deploys
  burst: fault('plan', 'F14', 0.15, 'four or eight events come for the same destinations at one moment'),
  'burst-into-hang': fault('plan', 'F15', 0.06, 'eight events come at one moment while their destination hangs'),
  'event-again': fault('plan', 'F07', 0.3, 'a client sends its event again, once with its keys in another order'),
  'event-conflict': fault('plan', 'F07', 0.15, 'other content comes under an id that is taken'),
  'payload-changed': fault('plan', 'F07', 0.03, 'stored bytes change between two attempts'),
  'forged-push': fault('plan', 'F22', 0.15, 'a push with a wrong signature or none'),
  'senseless-push': fault('plan', 'F22', 0.1, 'an authentic push that makes no sense'),
  'unknown-reference': fault('plan', 'F22', 0.08, 'a message names a delivery that does not exist'),
  'newer-message': fault('plan', 'F23', 0.1, 'a message of a kind that only newer code knows'),
  republished: fault('plan', 'F04', 0.2, 'somebody publishes the same reference under a new message id'),
  'next-code': fault('plan', 'F23', 0.1, 'newer code runs beside ours: unknown attributes, rows of a later format'),
  pause: fault('plan', 'F18', 0.2, 'a person pauses the destination, and resumes it or not'),
  'breaker-near': fault('plan', 'F18', 0.25, 'a destination has failed for long, and its breaker is about to open'),
  notices: fault('plan', 'F18', 0.3, 'the destinations are told what a person should know'),
  edit: fault('plan', 'F18', 0.15, 'the settings change while deliveries are under way'),
  delete: fault('plan', 'F18', 0.04, 'the destination is deleted'),
  'rotate-secret': fault('plan', 'F18', 0.1, 'the signing secret is rotated'),
  decide: fault('plan', 'F24', 0.3, 'a person redrives, resolves or cancels, in whatever state'),
  'asked-twice': fault('plan', 'F24', 0.2, 'a person sends the same request twice at once'),
  replay: fault('plan', 'F24', 0.05, 'a person replays what was delivered'),
  operation: fault('plan', 'F13', 0.3, 'a redrive over the dead letters or the quarantine is planned and run'),
} as const satisfies Record<string, FaultClass>;

export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

/** The classes of a site, each with its own stretch of [0, 1): one that is left out does not move the others. */
export interface Stretch {
  readonly name: FaultName;
  readonly from: number;
  readonly share: number;
}

export const stretchesOf = (site: Site): readonly Stretch[] => {
  let from = 0;
  return FAULT_NAMES.filter((name) => FAULTS[name].site === site).map((name) => {
    const stretch = { name, from, share: FAULTS[name].shareMax };
    from += stretch.share;
    return stretch;
  });
};
