export interface Definition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
  /** A histogram's upper bounds, in the unit of its name. */
  readonly buckets: readonly number[];
}

/** From cached responses to slow stores and worker tasks. */
export const secondsBuckets: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

const define =
  <const Type extends Definition['type']>(type: Type, buckets: readonly number[] = []) =>
  <const Labels extends readonly string[]>(labels: Labels, help: string) => ({ type, labels, help, buckets });
const counter = define('counter');
const gauge = define('gauge');
const histogram = define('histogram', secondsBuckets);

/**
 * All metrics, in the order of the output. `docs/reference/metrics.md` has the same texts. Names and units follow
 * https://prometheus.io/docs/practices/naming/; metrics of the process have the names that other Node.js programs use. No label value comes
 * from a client.
 */
export const definitions = {
  tenon_build_info: gauge(
    ['version', 'node', 'metadata', 'blobs'],
    '1, with the versions of Tenon and Node.js, and the kinds of the stores of metadata (`sqlite`, `postgresql`) and blobs (`folder`, `s3`)',
  ),

  tenon_http_requests_total: counter(
    ['method', 'route', 'status'],
    'completed requests, by route template or `(none)`; the status is `aborted` if the client disconnected before the end of the response',
  ),
  tenon_http_request_duration_seconds: histogram(
    ['method', 'route'],
    'time from the end of the request header to the end of the response, or to the disconnect; for an event stream, how long it was open',
  ),
  tenon_http_requests_in_progress: gauge([], 'requests in progress, including event streams'),
  tenon_http_connections: gauge([], 'open connections'),
  tenon_network_received_bytes_total: counter([], 'bytes received from clients, including header fields'),
  tenon_network_sent_bytes_total: counter([], 'bytes sent to clients, including header fields'),
  tenon_response_cache_hits_total: counter(
    [],
    'binding lists from the response cache, without a lookup of the token, role or list',
  ),
  tenon_change_streams: gauge([], 'open event streams of the change feed'),

  tenon_changes_total: counter(
    ['action'],
    'changes that this process committed, by their audit action; `plugin.publish` is a publish',
  ),
  tenon_worker_tasks_total: counter(
    ['pool', 'task', 'outcome'],
    'completed tasks of the workers for modules (`check`, `compare`, `diff`, `document`, `instrument`, `report`, `schema`), passwords (`hash`, `verify`) and simulations (`simulate`); `done` includes rejected modules',
  ),
  tenon_worker_task_duration_seconds: histogram(
    ['pool', 'task'],
    'duration of these tasks, including the time in the queue',
  ),
  tenon_worker_tasks_queued: gauge(['pool'], 'tasks that wait for a worker'),
  tenon_worker_tasks_running: gauge(['pool'], 'tasks that a worker runs'),

  tenon_store_transactions_total: counter(
    ['outcome'],
    'transactions on the metadata store: `committed`; `refused` by a rule; in `conflict` with another one; `unavailable` when the database was unreachable or busy; `full`; `failed`',
  ),
  tenon_store_transaction_duration_seconds: histogram(
    [],
    'duration of transactions, including retries and the wait for the write lock',
  ),
  tenon_store_transaction_retries_total: counter([], 'retries of transactions after a conflict with another one'),
  tenon_cache_requests_total: counter(
    ['result'],
    'cache lookups before reads of the metadata store: `hit`, `miss`, or `stale` (invalidated, or possibly invalidated, by a commit)',
  ),
  tenon_store_revision_trusted: gauge(
    [],
    '1 while the process receives the commits of other processes; 0 while it cannot receive them because its connection to the database is interrupted; it then caches nothing',
  ),

  tenon_blob_requests_total: counter(
    ['operation', 'outcome'],
    'requests to the blob store: `put`, `size`, `open` (one per read), `delete`, `list`, `ping`; the outcome is `done`, `missing`, `unavailable`, `full`, or `failed`',
  ),
  tenon_blob_request_duration_seconds: histogram(
    ['operation'],
    'duration of these requests; for a read or a list, until the first data',
  ),
  tenon_blob_read_bytes_total: counter([], 'bytes read from the blob store'),
  tenon_blob_written_bytes_total: counter([], 'bytes written to the blob store'),
  tenon_damaged_contents_total: counter(
    ['damage'],
    'requests for a content whose stored bytes are `missing`, or have the wrong `size` or `digest`; each fails and logs an error',
  ),
  tenon_content_cache_requests_total: counter(
    ['result'],
    'lookups in the content cache: `hit`; or `miss`, also for contents that are too large to cache',
  ),
  tenon_content_cache_bytes: gauge([], 'size of the content cache'),

  tenon_spans_total: counter(
    ['outcome'],
    'spans of traced requests that were `sent` to the collector, `rejected` by it, `failed` to reach it, or were `dropped` because the queue was full',
  ),
  tenon_spans_queued: gauge([], 'spans that wait to be sent'),

  tenon_simulation_runs_total: counter(
    ['verdict'],
    'tests of versions by this process: `passed`, `failed`, `timed_out`, `none_configured`; `errored` tests are repeated',
  ),
  tenon_simulation_runs_queued: gauge(
    [],
    'tests that wait or run, by all nodes; only the first worker of a node counts them',
  ),
  tenon_simulation_runs_errored: gauge([], 'those of them that errored, and are repeated'),

  tenon_mails_total: counter(
    ['outcome'],
    'attempts of this process to send a mail: `sent`; `postponed` after a temporary failure; `failed` for good',
  ),
  tenon_mails_queued: gauge(
    [],
    'mails that wait to be sent, by all nodes; only the first worker of a node counts them',
  ),
  tenon_mail_server_reachable: gauge([], '0 while this process cannot reach the mail server, or is not accepted by it'),

  tenon_refused_sign_ins_total: counter(
    ['means', 'reason'],
    'refused sign-ins and token exchanges, by `means` such as `password`, and by reason',
  ),
  tenon_suppressed_refusals_total: counter(
    [],
    'those of them without an audit event, because there were too many, or the store could not be written',
  ),
  tenon_new_network_uses_total: counter([], 'uses of an access token or an API key from a network that is new to it'),

  tenon_webhook_deliveries_total: counter(
    ['outcome'],
    'attempts of this process to deliver to a webhook: `delivered`; `retried` after a failure; `failed` for good',
  ),
  tenon_webhook_deliveries_queued: gauge(
    [],
    'webhook deliveries that are pending, by all nodes; only the first worker of a node counts them',
  ),
  tenon_webhook_queue_age_seconds: gauge([], 'how long the pending delivery that is due for the longest waits'),
  tenon_audit_syslog_sent_total: counter([], 'audit events that this process sent to the syslog server'),
  tenon_audit_syslog_lag_events: gauge(
    [],
    'audit events that wait to be sent to the syslog server, as the sending process knows',
  ),
  tenon_audit_syslog_lag_seconds: gauge([], 'how long the oldest of them has been waiting'),
  tenon_audit_chain_length: gauge(
    [],
    'audit events in the hash chain, including deleted ones; only the first worker of a node counts them',
  ),
  tenon_audit_chain_faults: gauge(
    [],
    'faults that the last verification of the newest 10,000 links of the chain found; each hour, by the first worker of a node',
  ),

  tenon_mirror_delay_seconds: gauge(
    [],
    'time since the mirror was last known to equal its source: at most about a minute in normal operation, `+Inf` before the first synchronization; the first worker of each node has the metrics of the mirror, as last stored by the node that follows',
  ),
  tenon_mirror_connected: gauge([], '0 while the source does not respond, or does not accept the token'),
  tenon_mirror_lists: gauge([], 'binding lists of the mirror that have plugins'),
  tenon_mirror_missing_lists: gauge([], 'lists of the source that the mirror could not make equal'),
  tenon_mirror_missing_contents: gauge([], 'contents that these name, and that could not be fetched or verified'),

  process_cpu_seconds_total: counter([], 'CPU time of all threads'),
  process_start_time_seconds: gauge([], 'start time of the process since the Unix epoch'),
  process_resident_memory_bytes: gauge([], 'resident memory of the process'),
  nodejs_heap_size_used_bytes: gauge([], 'used JavaScript heap of the main thread'),
  nodejs_external_memory_bytes: gauge([], 'memory outside the heap, such as buffers'),
  nodejs_eventloop_active_seconds_total: counter(
    [],
    'active time of the main thread; its rate is the share of a core that it uses',
  ),
  nodejs_eventloop_lag_p50_seconds: gauge([], 'median delay of timers since the current one-minute window began'),
  nodejs_eventloop_lag_p99_seconds: gauge([], '99th percentile of the delay of timers in the last one to two minutes'),
  nodejs_eventloop_lag_max_seconds: gauge([], 'maximum delay of timers in the last one to two minutes'),
} satisfies Readonly<Record<string, Definition>>;

export type MetricName = keyof typeof definitions;

export type NameOf<Type extends Definition['type']> = {
  [Name in MetricName]: (typeof definitions)[Name]['type'] extends Type ? Name : never;
}[MetricName];

/** The names of the metrics that have one value each. */
export type PlainName = {
  [Name in NameOf<'counter' | 'gauge'>]: (typeof definitions)[Name]['labels'] extends readonly [] ? Name : never;
}[NameOf<'counter' | 'gauge'>];

export type LabelsOf<Name extends MetricName> = Readonly<Record<(typeof definitions)[Name]['labels'][number], string>>;
