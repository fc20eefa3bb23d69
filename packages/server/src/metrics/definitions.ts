/** What a metric is, to those who read it. */
export interface Definition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
  /** A histogram's upper bounds, in the unit of its name. */
  readonly buckets?: readonly number[];
}

/** From what is answered from memory to what a worker or a slow store takes. */
export const secondsBuckets: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/**
 * Every metric there is, in the order in which they are written; `docs/reference/metrics.md` shows the same. Names and units are as
 * https://prometheus.io/docs/practices/naming/ has them; those of the process are what other programs for Node.js call them.
 * No label has a value that comes from a client.
 */
export const definitions = {
  tenon_build_info: {
    type: 'gauge',
    labels: ['version', 'node', 'metadata', 'blobs'],
    help: '1, with the version of Tenon and of Node.js, and where metadata (`sqlite`, `postgresql`) and plugins (`folder`, `s3`) are kept',
  },

  tenon_http_requests_total: {
    type: 'counter',
    labels: ['method', 'route', 'status'],
    help: 'requests that have ended, with the route as it is declared, or `(none)`; the status is `aborted` when the client went before it had all of the answer',
  },
  tenon_http_request_duration_seconds: {
    type: 'histogram',
    labels: ['method', 'route'],
    buckets: secondsBuckets,
    help: 'from when a request’s header had come to when its answer was handed over, or the client gone; for a stream, how long it was open',
  },
  tenon_http_requests_in_progress: {
    type: 'gauge',
    labels: [],
    help: 'requests that are being answered, streams of news included',
  },
  tenon_http_connections: { type: 'gauge', labels: [], help: 'connections that are open' },
  tenon_network_received_bytes_total: {
    type: 'counter',
    labels: [],
    help: 'bytes that came from clients, header fields included',
  },
  tenon_network_sent_bytes_total: {
    type: 'counter',
    labels: [],
    help: 'bytes that were sent to clients, header fields included',
  },
  tenon_lists_from_memory_total: {
    type: 'counter',
    labels: [],
    help: 'binding lists that were answered from memory alone, without a look at token, role or list',
  },
  tenon_news_streams: { type: 'gauge', labels: [], help: 'streams of news that are open' },

  tenon_changes_total: {
    type: 'counter',
    labels: ['action'],
    help: 'changes that were committed here, by their action in the audit trail; `plugin.publish` is a publish',
  },
  tenon_worker_tasks_total: {
    type: 'counter',
    labels: ['pool', 'task', 'outcome'],
    help: 'what was asked of the workers for modules (`check`, `compare`, `instrument`, `report`) and passwords (`hash`, `verify`); `done` is what a worker answered, a refusal of the module included',
  },
  tenon_worker_task_duration_seconds: {
    type: 'histogram',
    labels: ['pool', 'task'],
    buckets: secondsBuckets,
    help: 'how long such tasks took, waiting included',
  },
  tenon_worker_tasks_queued: { type: 'gauge', labels: ['pool'], help: 'tasks that wait for a worker' },
  tenon_worker_tasks_running: { type: 'gauge', labels: ['pool'], help: 'tasks that a worker is at' },

  tenon_store_transactions_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'transactions on the metadata: `committed`; `refused` by a rule; in `conflict` with another; `unavailable` when the database couldn’t be reached or others kept it busy; `full`; `failed`',
  },
  tenon_store_transaction_duration_seconds: {
    type: 'histogram',
    labels: [],
    buckets: secondsBuckets,
    help: 'how long transactions took, with the wait for their turn and with having been run again',
  },
  tenon_store_transaction_retries_total: {
    type: 'counter',
    labels: [],
    help: 'how often a transaction was run again, because another one was faster',
  },
  tenon_memory_answers_total: {
    type: 'counter',
    labels: ['result'],
    help: 'what was looked for in memory before the store was asked: `known`; `unknown`; or `stale`, since a commit had touched it, here or elsewhere, or nobody could tell whether one had',
  },
  tenon_store_revision_trusted: {
    type: 'gauge',
    labels: [],
    help: '1 while it is known what others commit; 0 while that channel of the database is interrupted, and nothing is kept in memory',
  },

  tenon_blob_requests_total: {
    type: 'counter',
    labels: ['operation', 'outcome'],
    help: 'what was asked of the store of plugins: `put`, `size`, `open` (one for all of a read), `delete`, `list`, `ping`; `done`, `missing`, `unavailable`, `full`, or `failed`',
  },
  tenon_blob_request_duration_seconds: {
    type: 'histogram',
    labels: ['operation'],
    buckets: secondsBuckets,
    help: 'how long that took; of a read and a list, until they could begin',
  },
  tenon_blob_read_bytes_total: { type: 'counter', labels: [], help: 'bytes that were read from the store of plugins' },
  tenon_blob_written_bytes_total: {
    type: 'counter',
    labels: [],
    help: 'bytes that were put in the store of plugins',
  },
  tenon_damaged_contents_total: {
    type: 'counter',
    labels: ['damage'],
    help: 'how often a content was asked for whose stored bytes were `missing`, had another `size` or another `digest`: never served, and an error in the log each time',
  },
  tenon_content_cache_requests_total: {
    type: 'counter',
    labels: ['result'],
    help: 'contents that were asked for: a `hit` was in memory, a `miss` was not, or is too large to be kept',
  },
  tenon_content_cache_bytes: { type: 'gauge', labels: [], help: 'how much content is kept in memory' },

  tenon_spans_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'spans of requests that were `sent` to the collector, `rejected` by it, `failed` to reach it, or were `dropped` because too many waited already; only where requests are traced',
  },
  tenon_spans_queued: { type: 'gauge', labels: [], help: 'spans that wait to be sent' },

  process_cpu_seconds_total: { type: 'counter', labels: [], help: 'processor time of all threads' },
  process_start_time_seconds: {
    type: 'gauge',
    labels: [],
    help: 'when the process began, since the Unix epoch',
  },
  process_resident_memory_bytes: { type: 'gauge', labels: [], help: 'memory that the process has' },
  nodejs_heap_size_used_bytes: {
    type: 'gauge',
    labels: [],
    help: 'the main thread’s JavaScript heap in use',
  },
  nodejs_external_memory_bytes: {
    type: 'gauge',
    labels: [],
    help: 'memory of buffers and the like, outside of the heap',
  },
  nodejs_eventloop_active_seconds_total: {
    type: 'counter',
    labels: [],
    help: 'how long the main thread was at work; its rate is the share of a core that it uses',
  },
  nodejs_eventloop_lag_p50_seconds: {
    type: 'gauge',
    labels: [],
    help: 'how late timers were since the last scrape: the median',
  },
  nodejs_eventloop_lag_p99_seconds: {
    type: 'gauge',
    labels: [],
    help: 'the same: one in a hundred was later',
  },
  nodejs_eventloop_lag_max_seconds: { type: 'gauge', labels: [], help: 'the same: the latest' },
} as const satisfies Readonly<Record<string, Definition>>;

export type MetricName = keyof typeof definitions;

/** The names of the metrics of a type. */
export type NameOf<Type extends Definition['type']> = {
  [Name in MetricName]: (typeof definitions)[Name]['type'] extends Type ? Name : never;
}[MetricName];

/** The names of the metrics that have one value each. */
export type PlainName = {
  [Name in NameOf<'counter' | 'gauge'>]: (typeof definitions)[Name]['labels'] extends readonly [] ? Name : never;
}[NameOf<'counter' | 'gauge'>];

/** A metric's labels with their values. */
export type LabelsOf<Name extends MetricName> = Readonly<Record<(typeof definitions)[Name]['labels'][number], string>>;
