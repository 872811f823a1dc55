/** Every route of the operator: what it takes, and the one right that it needs. */
import type { Route } from '../../http/route.ts';
import {
  auditQuery,
  decisionsQuery,
  deliveriesQuery,
  destinationsQuery,
  messagesQuery,
  pageQuery,
  planBody,
  proveBody,
  putBody,
  reasonBody,
  redriveBody,
  replayBody,
  resolveBody,
  rotateBody,
  shadowBody,
  shadowQuery,
  tokenBody,
} from './inputs.ts';

const EVENT = '/v1/events/:event';
const DELIVERY = `${EVENT}/deliveries/:destination` as const;
const DESTINATIONS = '/v1/destinations';
const DESTINATION = `${DESTINATIONS}/:destination` as const;
const REDRIVES = '/v1/redrives';
const OPERATION = `${REDRIVES}/:operation` as const;

export const ROUTES = {
  showEvent: { method: 'get', path: EVENT, right: 'view' },
  showDelivery: { method: 'get', path: DELIVERY, right: 'view' },
  explainDelivery: { method: 'get', path: `${DELIVERY}/explain`, right: 'view' },
  listDeliveries: { method: 'get', path: '/v1/deliveries', right: 'view', query: deliveriesQuery },
  redriveDelivery: { method: 'post', path: `${DELIVERY}/redrive`, right: 'resend', decides: true, body: redriveBody },
  resolveDelivery: { method: 'post', path: `${DELIVERY}/resolve`, right: 'decide', decides: true, body: resolveBody },
  cancelDelivery: { method: 'post', path: `${DELIVERY}/cancel`, right: 'decide', decides: true, body: reasonBody },
  replayEvent: { method: 'post', path: `${EVENT}/replay`, right: 'resend', decides: true, body: replayBody },

  listDestinations: { method: 'get', path: DESTINATIONS, right: 'view', query: destinationsQuery },
  showDestination: { method: 'get', path: DESTINATION, right: 'view' },
  putDestination: { method: 'put', path: DESTINATION, right: 'admin', mayDecide: true, body: putBody },
  deleteDestination: { method: 'delete', path: DESTINATION, right: 'admin', decides: true, body: reasonBody },
  pauseDestination: { method: 'post', path: `${DESTINATION}/pause`, right: 'pause', decides: true, body: reasonBody },
  resumeDestination: { method: 'post', path: `${DESTINATION}/resume`, right: 'pause', decides: true, body: reasonBody },
  testDestination: { method: 'post', path: `${DESTINATION}/test`, right: 'pause', decides: true, body: reasonBody },
  proveDestination: { method: 'post', path: `${DESTINATION}/prove`, right: 'pause', decides: true, body: proveBody },

  showShadow: { method: 'get', path: `${DESTINATION}/shadow-report`, right: 'view', query: shadowQuery },
  compareShadow: { method: 'post', path: `${DESTINATION}/shadow-report`, right: 'view', body: shadowBody },

  rotateSecret: {
    method: 'post',
    path: `${DESTINATION}/rotate-secret`,
    right: 'admin',
    decides: true,
    body: rotateBody,
  },

  planRedrive: { method: 'post', path: REDRIVES, right: 'resend', decides: true, body: planBody },
  listRedrives: { method: 'get', path: REDRIVES, right: 'view', query: pageQuery },
  showRedrive: { method: 'get', path: OPERATION, right: 'view', query: messagesQuery },
  runRedrive: { method: 'post', path: `${OPERATION}/run`, right: 'resend', decides: true, body: reasonBody },
  stopRedrive: { method: 'post', path: `${OPERATION}/stop`, right: 'resend', decides: true, body: reasonBody },

  listTokens: { method: 'get', path: '/v1/tokens', right: 'admin' },
  createToken: { method: 'post', path: '/v1/tokens', right: 'admin', decides: true, body: tokenBody },
  revokeToken: { method: 'delete', path: '/v1/tokens/:name', right: 'admin', decides: true, body: reasonBody },

  auditEvent: { method: 'get', path: `${EVENT}/audit`, right: 'view' },
  listDecisions: { method: 'get', path: '/v1/decisions', right: 'view', query: decisionsQuery },
  auditDeliveries: { method: 'get', path: '/v1/audit', right: 'view', query: auditQuery },

  showStats: { method: 'get', path: '/v1/stats', right: 'view' },
} as const satisfies Readonly<Record<string, Route>>;

export type RouteName = keyof typeof ROUTES;
