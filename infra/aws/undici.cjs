'use strict';
/**
 * What the adapters use of undici, and nothing else: its front door also opens fetch, WebSocket, caches, mocks and a dozen
 * dispatchers, two thirds of its size and of its time at a cold start. The bundles get this in the place of `undici`; a
 * test sends through a bundle, so that a version which needs more of itself is found out.
 *
 * The paths are relative since an alias also covers everything below its name.
 */
const Dispatcher = require('../../node_modules/undici/lib/dispatcher/dispatcher');

Object.assign(Dispatcher.prototype, require('../../node_modules/undici/lib/api'));

exports.Client = require('../../node_modules/undici/lib/dispatcher/client');
exports.Pool = require('../../node_modules/undici/lib/dispatcher/pool');
exports.errors = require('../../node_modules/undici/lib/core/errors');
