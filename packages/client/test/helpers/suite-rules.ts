import type { Layer } from './suite-fetch.ts';

/** Why cases say nothing of this client. */
export const reasons = {
  callers: 'callers send no header fields of their own, and the client itself always sends the same ones',
  errors:
    'an error is the answer to one call: whether something is asked for again is settled by the rules for retries',
  fields: 'lists and bytes are handed out, without the header fields that they came with',
  freshness: 'how long a list is used without asking is for the caller to say, not for the server',
  lastModified: 'lists have entity tags; `last-modified` is not read',
  methods: 'the client sends GET alone, and changes nothing',
  ranges: 'contents are fetched whole',
  reload: "a browser's button to reload has no like here",
  stale:
    'whether a kept list is served while the server cannot be asked is for the caller to say, and the caller gets an event',
  statuses: 'a list comes with 200: any other answer but 304 is an error',
  unquoted: 'what has no quotes is no entity tag (RFC 9110, section 8.8.3), and is not sent back',
} as const;

export type Reason = keyof typeof reasons;

/** What becomes of cases, by their ids; the first rule that fits counts. */
export const rules: readonly (readonly [ids: RegExp, to: { readonly put: Layer } | { readonly leave: Reason }])[] = [
  [/^headers-|^304-etag-|^other-(age|date)-|^stale-warning-|^partial-use-/, { leave: 'fields' }],
  [/^(invalidate|head|method)-/, { leave: 'methods' }],
  [/^partial-/, { leave: 'ranges' }],
  [/^304-lm-|^conditional-lm-/, { leave: 'lastModified' }],
  [/^(ccreq|pragma-request)-|^conditional-etag-(forward|vary)|^other-cookie$/, { leave: 'callers' }],
  [/^vary-(?!star$|syntax-)/, { leave: 'callers' }],
  [/^conditional-etag-strong-generate-unquoted$/, { leave: 'unquoted' }],
  [/^cc-resp-immutable-stale$/, { leave: 'reload' }],
  [/^(status|heuristic)-2(?!00)\d\d-/, { leave: 'statuses' }],
  [/^(status|heuristic)-[45]\d\d-(fresh|cached)$/, { leave: 'errors' }],

  // Contents are kept for good, whatever the server says of freshness: wherever a cache may keep something, this one does.
  [/^freshness-max-age(-max.*|-expires.*|-extension|-case-insenstive|-leading-zero)?$/, { put: 'content' }],
  [/^freshness-expires-(future|invalid-date)$/, { put: 'content' }],
  [/^cc-resp-(private-private|immutable-fresh|must-revalidate-fresh)$/, { put: 'content' }],
  [/^other-(set-cookie|fresh-content-disposition-attachment)$|^query-args-same$/, { put: 'content' }],

  [/^stale-close-(must-revalidate|proxy-revalidate|no-cache|s-maxage=2)$/, { leave: 'stale' }],
  [/^stale-(close|503|sie-close|sie-503)$/, { put: 'list' }],

  // Details and suggestions on what is reused, by ways of writing that servers get wrong.
  [/^freshness-max-age-(quoted|decimal-\w+|a100|100a|multiple-\w+|two-.*)$|^age-parse-prefix$/, { leave: 'freshness' }],
  [/^freshness-expires-(32bit|far-future|rfc850|ansi-c|wrong-case-.*|invalid-.*)$/, { leave: 'freshness' }],
  [/^heuristic-(200-cached|delta-\d+)$|^status-200-fresh$|^cc-resp-must-revalidate-stale$/, { leave: 'freshness' }],
  [/^pragma-response-|^other-heuristic-/, { leave: 'freshness' }],

  // Lists are asked for each time here (`maxAgeMs: 0`): nothing is reused unless the server confirms it.
  [/^freshness-none$|^freshness-max-age-(0.*|age|negative|date|s-maxage-private.*|space-.*)$/, { put: 'list' }],
  [/^freshness-max-age-(single-quoted|ignore-quoted.*)$|^age-parse-/, { put: 'list' }],
  [/^freshness-expires-/, { put: 'list' }],
  [/^cc-resp-no-(store|cache)/, { put: 'list' }],
  [/^heuristic-\d+-not_cached$|^status-(\d+-stale|599-must-understand)$/, { put: 'list' }],
  [/^vary-(star|syntax-.*)$|^query-args-different$/, { put: 'list' }],
  [/^conditional-etag-(strong|weak)-generate(-weak)?$/, { put: 'list' }],
];
