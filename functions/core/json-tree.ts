/**
 * Strict JSON (RFC 8259) with offsets. Three things need more than `JSON.parse` gives: the exact bytes of one member,
 * the text of a number (two ids above 2^53 must not become one), and the sight of a duplicate key, which `JSON.parse`
 * settles silently in favour of the last one.
 *
 * A byte order mark is refused (RFC 8259 section 8.1 says senders must not add one), and so are comments and trailing
 * commas. The first error ends the reading: hostile input cannot make us collect millions of them.
 */
import { type JSONPath, type JSONVisitor, printParseErrorCode, visit } from 'jsonc-parser';
import { JSON_DEPTH_MAX } from './limits.ts';

/** A payload lies some levels deep in a request (array of events, message of a queue); these do not count as its own. */
export const ENVELOPE_DEPTH_MAX = 8;
const DOCUMENT_DEPTH_MAX = JSON_DEPTH_MAX + ENVELOPE_DEPTH_MAX;
const PATH_CHARS_MAX = 200;

/** `start` and `end` count UTF-16 code units of the document's text; `end` is exclusive. */
interface Range {
  readonly start: number;
  readonly end: number;
}
export interface JsonObject extends Range {
  readonly kind: 'object';
  /** By decoded key, in the order of the text. */
  readonly members: ReadonlyMap<string, JsonNode>;
}
export interface JsonArray extends Range {
  readonly kind: 'array';
  readonly items: readonly JsonNode[];
}
export interface JsonString extends Range {
  readonly kind: 'string';
  readonly value: string;
}
/** `value` may have lost digits; the text between `start` and `end` has not. */
export interface JsonNumber extends Range {
  readonly kind: 'number';
  readonly value: number;
}
export interface JsonLiteral extends Range {
  readonly kind: 'literal';
  readonly value: true | false | null;
}
export type JsonNode = JsonObject | JsonArray | JsonString | JsonNumber | JsonLiteral;

export interface JsonDocument {
  readonly kind: 'ok';
  readonly root: JsonNode;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** From an offset in `text` to the offset in `bytes`. */
  readonly byteOffset: (charOffset: number) => number;
}

/** `field` is the path of the member at fault, such as `payload.items[3].id`, where there is one. */
export interface JsonRefusal {
  readonly kind: 'bad';
  readonly reason: string;
  readonly field?: string;
}

/** Reads the raw bytes of a request. Keeps a reference to `bytes`: the caller must not change them afterwards. */
export function readJson(bytes: Uint8Array): JsonDocument | JsonRefusal {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { kind: 'bad', reason: 'is not UTF-8' };
  }
  if (text.startsWith('\uFEFF')) return { kind: 'bad', reason: 'starts with a byte order mark: JSON has none' };
  const byteOffset = byteOffsets(text, bytes.length);
  try {
    return { kind: 'ok', root: treeOf(text, byteOffset), bytes, text, byteOffset };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { message: reason, field } = error;
    return field === '' ? { kind: 'bad', reason } : { kind: 'bad', reason, field };
  }
}

/** Thrown inside this module only, to leave the library's visit at the first error. */
class Refusal extends Error {
  readonly field: string;
  constructor(reason: string, path: JSONPath) {
    super(reason);
    this.field = pathText(path);
  }
}

interface OpenObject extends JsonObject {
  end: number;
  readonly members: Map<string, JsonNode>;
}
interface OpenArray extends JsonArray {
  end: number;
  readonly items: JsonNode[];
}

function treeOf(text: string, byteOffset: (charOffset: number) => number): JsonNode {
  const open: (OpenObject | OpenArray)[] = [];
  let key = '';
  let root: JsonNode | undefined;

  const add = (node: JsonNode): void => {
    const parent = open.at(-1);
    if (parent === undefined) root = node;
    else if (parent.kind === 'object') parent.members.set(key, node);
    else parent.items.push(node);
  };
  // The library reads by recursion. Refusing here, before it goes deeper, is what keeps its stack bounded.
  const begin = (node: OpenObject | OpenArray, path: JSONPath): void => {
    if (open.length === DOCUMENT_DEPTH_MAX) {
      throw new Refusal(`is nested deeper than ${DOCUMENT_DEPTH_MAX} levels at byte ${byteOffset(node.start)}`, path);
    }
    add(node);
    open.push(node);
  };
  const close = (offset: number, length: number): void => {
    const node = open.pop();
    if (node !== undefined) node.end = offset + length;
  };

  const visitor: JSONVisitor = {
    onObjectBegin: (start, _length, _line, _column, path) => {
      begin({ kind: 'object', start, end: start, members: new Map() }, open.length < DOCUMENT_DEPTH_MAX ? [] : path());
    },
    onArrayBegin: (start, _length, _line, _column, path) => {
      begin({ kind: 'array', start, end: start, items: [] }, open.length < DOCUMENT_DEPTH_MAX ? [] : path());
    },
    onObjectEnd: close,
    onArrayEnd: close,
    onObjectProperty: (name, offset, _length, _line, _column, path) => {
      const parent = open.at(-1);
      if (parent?.kind === 'object' && parent.members.has(name)) {
        throw new Refusal(`names the same key twice, again at byte ${byteOffset(offset)}`, [...path(), name]);
      }
      key = name;
    },
    onLiteralValue: (value: unknown, start, length) => add(scalarOf(value, start, start + length)),
    onError: (error, offset) => {
      const what = printParseErrorCode(error)
        .replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
        .toLowerCase();
      throw new Refusal(`is not JSON at byte ${byteOffset(offset)}: ${what}`, []);
    },
  };
  visit(text, visitor, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  if (root === undefined) throw new Refusal('is not JSON: it holds no value', []);
  return root;
}

function scalarOf(value: unknown, start: number, end: number): JsonNode {
  if (typeof value === 'string') return { kind: 'string', start, end, value };
  if (typeof value === 'number') return { kind: 'number', start, end, value };
  if (value === true || value === false || value === null) return { kind: 'literal', start, end, value };
  throw new TypeError(`the JSON reader gave a value of type ${typeof value}`);
}

/** A table made in one pass at the first question; plain ASCII needs none. */
function byteOffsets(text: string, byteLength: number): (charOffset: number) => number {
  if (text.length === byteLength) return (charOffset) => charOffset;
  let table: Uint32Array | undefined;
  return (charOffset) => {
    table ??= byteTable(text);
    const found = table[charOffset];
    if (found === undefined) throw new RangeError(`offset ${charOffset} lies outside a text of ${text.length}`);
    return found;
  };
}

function byteTable(text: string): Uint32Array {
  const table = new Uint32Array(text.length + 1);
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    table[at] = bytes;
    const unit = text.charCodeAt(at);
    // The two halves of a surrogate pair make four bytes together, so two each; the text came from UTF-8, so both are there.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
  }
  table[text.length] = bytes;
  return table;
}

function pathText(path: JSONPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text.length <= PATH_CHARS_MAX ? text : `${text.slice(0, PATH_CHARS_MAX)}...`;
}

export const memberOf = (node: JsonNode, key: string): JsonNode | undefined =>
  node.kind === 'object' ? node.members.get(key) : undefined;

/** Levels of arrays and objects from this node down: 0 for a scalar, 1 for `[]`. */
export function depthOf(node: JsonNode): number {
  if (node.kind !== 'object' && node.kind !== 'array') return 0;
  let deepest = 0;
  for (const child of node.kind === 'object' ? node.members.values() : node.items) {
    deepest = Math.max(deepest, depthOf(child));
  }
  return deepest + 1;
}

/** The node as plain JavaScript, for a schema to check; of its own members, those named in `without` are left out. */
export function plainOf(node: JsonNode, without: readonly string[] = []): unknown {
  switch (node.kind) {
    case 'array':
      return node.items.map((item) => plainOf(item));
    case 'object': {
      const kept = [...node.members].filter(([key]) => !without.includes(key));
      // `fromEntries` defines its keys, so a key named __proto__ becomes an ordinary member.
      return Object.fromEntries(kept.map(([key, value]) => [key, plainOf(value)]));
    }
    default:
      return node.value;
  }
}
