import { availableParallelism } from 'node:os';
import { type KeyFile, signingKeyFile, trustedRootFiles } from './key-files.ts';
import { type MirrorSettings, mirrorFile } from './mirror-file.ts';
import { quotaList } from './quota-list.ts';
import { defaultQuotas, type Quotas } from './quotas.ts';
import {
  anyCaseBoolean,
  byteSize,
  choice,
  collectorUrl,
  databaseUrl,
  duration,
  durationOrZero,
  fieldName,
  headerFields,
  httpUrl,
  issuerUrl,
  keyValues,
  list,
  origin,
  port,
  positiveInteger,
  type Reader,
  ratio,
  type SmtpServer,
  type SyslogServer,
  smtpUrl,
  syslogUrl,
  text,
  trustedAddress,
  workerCount,
  yesOrNo,
} from './readers.ts';
import { passwordsOnly, type SignInSettings, signInProviders } from './sign-in-providers.ts';

const MiB = 2 ** 20;
const second = 1000;
const hour = 3600 * second;
const day = 24 * hour;

export interface Setting<T> {
  readonly variable: string;
  /** The name before `=`, if the variable is a list of settings. */
  readonly item: string | undefined;
  readonly read: Reader<T>;
  readonly default: T;
  readonly description: string;
}

/** @param name a variable, or a variable and an item in it: `TENON_TIMES header` */
function setting<T>(name: string, read: Reader<T>, fallback: NoInfer<T>, description: string): Setting<T> {
  const [variable = '', item] = name.split(' ');
  return { variable, item, read, default: fallback, description };
}

/** A setting without a default. */
function optional<T>(name: string, read: Reader<T>, description: string): Setting<T | undefined> {
  return setting<T | undefined>(name, read, undefined, description);
}

/** All settings of the server. A test compares `docs/reference/configuration.md` with them. */
export const settings = {
  host: setting('TENON_HOST', text, '127.0.0.1', 'the address to listen on'),
  port: setting('TENON_PORT', port, 8366, 'the port to listen on; 0 takes any free port'),
  dataDir: setting(
    'TENON_DATA_DIR',
    text,
    './tenon-data',
    'the folder of `quickstart.env`, and of the metadata and the plugins unless they are stored elsewhere; not used with PostgreSQL, an object store, and no demo',
  ),
  publicUrl: optional(
    'TENON_PUBLIC_URL',
    httpUrl,
    'the URL under which clients reach the server, which may have a path prefix; by default `http://localhost:PORT`, or `http://HOST:PORT` when it listens on one address that is not localhost',
  ),
  instrumentUrl: optional(
    'TENON_INSTRUMENT_URL',
    httpUrl,
    'the URL under which clients reach `/instrument`; the public URL by default',
  ),
  trustedProxies: setting<readonly string[]>(
    'TENON_TRUSTED_PROXIES',
    list(trustedAddress),
    [],
    'addresses and CIDR ranges of the proxies whose forwarding header the server trusts',
  ),
  forwardedHeader: setting(
    'TENON_FORWARDED_HEADER',
    fieldName,
    'x-forwarded-for',
    'the header field in which these proxies send the client address. The server reads `forwarded` as RFC 7239 defines it, and any other field as a list of addresses that ends with the nearest one. It ignores all other forwarding headers',
  ),
  trustedIssuers: setting<readonly string[]>(
    'TENON_TRUSTED_ISSUERS',
    list(issuerUrl),
    [],
    'issuers of identity tokens of CI jobs that may have private addresses, or be `http` on a loopback host. Other issuers must have public addresses. See [how to publish from CI](../how-to/publish-from-ci.md)',
  ),
  webhookOrigins: setting<readonly string[]>(
    'TENON_WEBHOOK_ORIGINS',
    list(origin),
    [],
    'origins of webhooks that may have private addresses, or be `http`, such as `http://hooks.internal:8080`, separated by commas. Other webhooks must be `https` and have public addresses. See [how to use webhooks](../how-to/webhooks.md)',
  ),
  logLevel: setting(
    'TENON_LOG_LEVEL',
    choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'the least severe level that is logged',
  ),
  workers: setting(
    'TENON_WORKERS',
    workerCount,
    1,
    'processes that serve requests: a number up to 256, or `auto` for as many as there are cores. Threads, queues, connections, memory, and the limits against guessing apply to all of them together; other rate limits apply to each',
  ),
  metricsPort: optional(
    'TENON_METRICS_PORT',
    port,
    'the port of `GET /metrics`, which needs no credentials; with several workers, the first of as many ports. 0 takes any free port. By default there is no such port',
  ),
  metricsHost: setting(
    'TENON_METRICS_HOST',
    text,
    '127.0.0.1',
    'the address to listen on for metrics. The public must not reach it',
  ),
  only: optional('TENON_ONLY', choice('instrument'), '`instrument` serves the instrumentation endpoint alone'),
  moduleWorkers: setting(
    'TENON_MODULE_WORKERS',
    positiveInteger,
    availableParallelism(),
    'processes that check and instrument modules and read schemas; by default as many as there are cores. If all of them work for one account and another account waits, one more starts',
  ),

  simulations: setting(
    'TENON_SIMULATIONS',
    choice('on', 'off'),
    'on',
    '`off` runs no simulations: a version stays in state `testing` where its extension point has any. See [security](../explanation/security.md)',
  ),

  databaseUrl: optional(
    'TENON_DATABASE_URL',
    databaseUrl,
    'the PostgreSQL database for the metadata, `postgresql://user:password@host:port/name`; by default the metadata is a file in the data folder',
  ),
  databaseConnections: setting(
    'TENON_DATABASE_CONNECTIONS',
    positiveInteger,
    8,
    'the maximum number of connections to PostgreSQL that a node uses for reading, and as many for writing',
  ),
  s3Bucket: optional(
    'TENON_S3_BUCKET',
    text,
    'the bucket of an S3-compatible object store for the plugins; by default the plugins are in the data folder',
  ),
  s3Endpoint: optional('TENON_S3_ENDPOINT', httpUrl, "the URL of the object store; by default Amazon's for the region"),
  s3Region: setting(
    'TENON_S3_REGION',
    text,
    'us-east-1',
    "the bucket's region; most stores other than Amazon's accept this one",
  ),
  s3Prefix: setting('TENON_S3_PREFIX', text, '', 'the prefix of the keys of all objects'),
  s3AccessKeyId: optional(
    'TENON_S3_ACCESS_KEY_ID',
    text,
    "the access key; by default what Amazon's own tools find: `AWS_` variables, files, or the machine's role",
  ),
  s3SecretAccessKey: optional('TENON_S3_SECRET_ACCESS_KEY', text, "the access key's secret"),
  s3PathStyle: optional(
    'TENON_S3_PATH_STYLE',
    yesOrNo,
    'whether URLs name the bucket in the path rather than in the host; by default they do where an endpoint is set',
  ),

  smtp: optional<SmtpServer>(
    'TENON_SMTP_URL',
    smtpUrl,
    'the mail server, `smtp://user:password@host:port?from=tenon@example.com`, or `smtps://` for TLS from the start; by default the server sends no mail. See [how to send mail](../how-to/mail.md)',
  ),

  mirror: optional<MirrorSettings>(
    'TENON_MIRROR_FILE',
    mirrorFile,
    'a JSON file with the source of a mirror: the server then follows that server, and is read-only. See [how to run a mirror](../how-to/mirror.md)',
  ),
  signingKey: optional<KeyFile>(
    'TENON_SIGNING_KEY_FILE',
    signingKeyFile,
    'the file of the Ed25519 key (PKCS #8 in PEM) that signs attestations; by default the server creates a key in the store',
  ),
  trustedRoots: setting<readonly unknown[]>(
    'TENON_SIGSTORE_TRUSTED_ROOT',
    trustedRootFiles,
    [],
    'files with the Sigstore trusted roots that verify attached provenance, separated by commas; without one, all provenance fails. See [provenance](../how-to/provenance.md)',
  ),
  auditSyslog: optional<SyslogServer>(
    'TENON_AUDIT_SYSLOG',
    syslogUrl,
    'the syslog server that gets the [audit trail](audit.md#syslog): `tls://host:6514`, `tcp://host:601`, or `udp://host:514`; by default none',
  ),

  signUp: setting(
    'TENON_SIGN_UP',
    choice('open', 'invitation', 'off'),
    'invitation',
    'who may sign up. `open`: everyone. `invitation`: users with an invitation link. `off`: only users with a set-up link of the operator, which always works',
  ),
  signIn: setting<SignInSettings>(
    'TENON_SIGN_IN_PROVIDERS',
    signInProviders,
    passwordsOnly,
    'a JSON file with OpenID Connect providers; by default users sign in with passwords only. See [how to sign in with OpenID Connect](../how-to/sign-in-with-oidc.md)',
  ),
  createApps: setting(
    'TENON_CREATE_APPS',
    choice('operators', 'members', 'all'),
    'members',
    'who may create applications. `operators`: only operators. `members`: also members of any team. `all`: every account, including guests',
  ),
  memoryMB: setting(
    'TENON_MEMORY_MB',
    positiveInteger,
    768,
    'memory in MiB that a node uses for caches and for bodies: two thirds for the bodies of all requests and responses, a sixth for cached binding lists and permissions (about 1.5 KiB for each list that a token reads), a sixth for cached plugin content. An account with several requests may hold as much memory for bodies as is free for others. If this memory is full, a request gets 503',
  ),
  quotas: setting<Quotas>(
    'TENON_QUOTAS',
    quotaList,
    defaultQuotas,
    'quotas, such as `applications=100,app-bytes=50GiB`; with an id before the name for one account or application: `app_01j29hxk3mfpq8ad68ha6hbsex:app-bytes=200GiB`. See [quotas](limits.md)',
  ),

  maxModuleBytes: setting(
    'TENON_LIMITS module-bytes',
    byteSize,
    64 * MiB,
    'the largest module that is published or instrumented',
  ),
  maxJsonBytes: setting('TENON_LIMITS json-bytes', byteSize, MiB / 4, 'the largest JSON body'),
  maxConfigBytes: setting('TENON_LIMITS config-bytes', byteSize, MiB, 'the largest instrumentation configuration'),
  simulationsAtOnce: setting(
    'TENON_LIMITS simulations',
    positiveInteger,
    Math.max(1, Math.floor(availableParallelism() / 2)),
    'simulations that run at once; by default half as many as there are cores. If all of them are for one account and another account waits, one more runs',
  ),
  simulationMemoryBytes: setting(
    'TENON_LIMITS simulation-memory',
    byteSize,
    256 * MiB,
    'the memory that the modules of a simulation may use',
  ),
  maxMultipartParts: setting(
    'TENON_LIMITS multipart-parts',
    positiveInteger,
    8,
    'the maximum number of parts of a multipart body',
  ),
  maxPluginsPerGuest: setting(
    'TENON_LIMITS plugins-per-guest',
    positiveInteger,
    1000,
    'the maximum number of plugins of one guest at one extension point',
  ),
  maxConnections: setting(
    'TENON_LIMITS connections',
    positiveInteger,
    10_000,
    'the maximum number of open connections of a node. The server closes a further one without a response, and soon afterwards all idle ones. If the process may not open enough file descriptors (`ulimit -n`), the limit is lower, and the log has a warning',
  ),
  requestsPerAccount: setting(
    'TENON_LIMITS requests-per-account',
    positiveInteger,
    256,
    'concurrent requests of one account with all its tokens, except change streams and cached binding lists; further ones get 429',
  ),
  changeStreamsPerAccount: setting(
    'TENON_LIMITS streams-per-account',
    positiveInteger,
    64,
    'concurrent change streams of one account with all its tokens; further ones get 429',
  ),

  writesPerSecond: setting(
    'TENON_RATES writes-per-second',
    positiveInteger,
    100,
    'changes per second of one token or API key, on average',
  ),
  writeBurst: setting(
    'TENON_RATES write-burst',
    positiveInteger,
    1000,
    'changes of one token or API key in a burst, before that average applies',
  ),
  codeTriesPerMinute: setting(
    'TENON_RATES code-tries-per-minute',
    positiveInteger,
    20,
    'requests per minute from one address with unknown codes of invitations, links, and command-line logins, or that revoke unknown tokens',
  ),
  signInTriesPerMinute: setting(
    'TENON_RATES sign-in-tries-per-minute',
    positiveInteger,
    20,
    'wrong passwords per minute from one address',
  ),
  accountTriesPerHour: setting(
    'TENON_RATES account-tries-per-hour',
    positiveInteger,
    30,
    'wrong passwords per hour for one account: from all unknown browsers together, and from each known browser',
  ),
  signUpsPerHour: setting(
    'TENON_RATES sign-ups-per-hour',
    positiveInteger,
    20,
    'new accounts per hour from one address, except those with a link of the operator',
  ),
  inviterSignUpsPerDay: setting(
    'TENON_RATES inviter-sign-ups-per-day',
    positiveInteger,
    20,
    'new accounts per day through the invitations of one account',
  ),

  headerTimeoutMs: setting(
    'TENON_TIMES header',
    duration,
    15 * second,
    'how long a client may take to send the header',
  ),
  bodyTimeoutMs: setting(
    'TENON_TIMES body',
    duration,
    600 * second,
    'how long a client may take to send a whole request',
  ),
  idleTimeoutMs: setting(
    'TENON_TIMES idle',
    duration,
    30 * second,
    'how long a client may send and receive nothing during a body; also how long the whole body of an unauthenticated request may take',
  ),
  keepAliveTimeoutMs: setting(
    'TENON_TIMES keep-alive',
    duration,
    72 * second,
    'how long an unused connection stays open',
  ),
  moduleTimeoutMs: setting(
    'TENON_TIMES module',
    duration,
    10 * second,
    'how long a process may work on a module, plus one second for each MiB of the module',
  ),
  simulationTimeoutMs: setting('TENON_TIMES simulation', duration, 10 * second, 'how long a simulation may run'),
  drainMs: setting(
    'TENON_TIMES drain',
    durationOrZero,
    0,
    'how long a server continues to serve after SIGTERM, while `/readyz` returns 503, so that load balancers notice',
  ),
  shutdownTimeoutMs: setting(
    'TENON_TIMES shutdown',
    duration,
    20 * second,
    'how long a shutdown waits for requests in progress',
  ),
  invitationLifetimeMs: setting('TENON_TIMES invitation', duration, 7 * day, 'how long an invitation is valid'),
  sessionLifetimeMs: setting('TENON_TIMES session', duration, 30 * day, 'how long a browser stays signed in'),
  changeRetentionMs: setting(
    'TENON_TIMES changes',
    duration,
    7 * day,
    'how long changes of binding lists are stored for hosts that reconnect; a host that was away longer reads every list again',
  ),
  usageRetentionMs: setting(
    'TENON_TIMES usage',
    duration,
    90 * day,
    'how long usage per day and hour is stored; the times of the last use stay',
  ),
  auditRetentionMs: optional('TENON_TIMES audit', duration, 'how long audit events are stored; forever by default'),
  collectIntervalMs: setting(
    'TENON_TIMES gc-interval',
    duration,
    hour,
    'how often the garbage collector looks for unreferenced content',
  ),
  collectGraceMs: setting(
    'TENON_TIMES gc-grace',
    duration,
    day,
    'how long unreferenced content stays after the garbage collector has first found it',
  ),

  otelDisabled: setting(
    'OTEL_SDK_DISABLED',
    anyCaseBoolean,
    false,
    '`true` turns tracing off. The server then ignores the other variables of OpenTelemetry',
  ),
  otelEndpoint: optional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    collectorUrl,
    'the URL of the collector, to which `/v1/traces` is added; turns tracing on',
  ),
  otelProtocol: setting(
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    choice('http/protobuf', 'http/json'),
    'http/protobuf',
    '`http/protobuf` or `http/json`',
  ),
  otelHeaders: setting<Readonly<Record<string, string>>>(
    'OTEL_EXPORTER_OTLP_HEADERS',
    headerFields,
    {},
    'header fields of each request to the collector, `name=value,name=value`, with values percent-encoded, such as an API key of the collector',
  ),
  otelServiceName: optional(
    'OTEL_SERVICE_NAME',
    text,
    'the attribute `service.name` of spans; else that of `OTEL_RESOURCE_ATTRIBUTES`, else `tenon`',
  ),
  otelResourceAttributes: setting<Readonly<Record<string, string>>>(
    'OTEL_RESOURCE_ATTRIBUTES',
    keyValues,
    {},
    'attributes of the resource that spans come from, `name=value,name=value`, with values percent-encoded',
  ),
  otelSamplingRatio: setting('OTEL_TRACES_SAMPLER_ARG', ratio, 1, 'the share of requests that is traced, from 0 to 1'),
  trustTraceparent: setting(
    'TENON_TRUST_TRACEPARENT',
    yesOrNo,
    false,
    'whether the sampled flag in the `traceparent` of a caller decides which requests are traced. Set it only if all callers are your own. Spans are always children of the span of the caller',
  ),
} as const;

/** The values of all settings. Durations are in milliseconds; sizes are in bytes unless the name has another unit. */
export type SettingValues = {
  readonly [Name in keyof typeof settings]: (typeof settings)[Name] extends Setting<infer T> ? T : never;
};

/** Values derived from settings, and constants that tests override. */
export function derivedValues({ memoryMB }: Pick<SettingValues, 'memoryMB'>) {
  const sixth = Math.floor((memoryMB * MiB) / 6);
  return {
    maxBodyMemoryBytes: 4 * sixth,
    responseCacheBytes: sixth,
    contentCacheBytes: sixth,
    maxHeaderBytes: 16 * 1024,
    /** Changes of binding lists that are stored for an application, for hosts that reconnect. */
    changesPerApp: 10_000,
    /** Concurrent streams of changes; further ones get 503. */
    changeStreams: 4096,
    changeHeartbeatMs: 15 * second,
    /** How long a set-up or password link is valid. */
    linkLifetimeMs: day,
    /** Threads that hash passwords, with 64 MiB each. One more starts when all of them work for one account or address and another one waits. */
    passwordThreads: 2,
    /** Passwords that wait for a thread. When the queue is full, the account or address with the most waiting gets 503. */
    passwordQueue: 32,
    /** Modules that wait for a process. When the queue is full, the account or address with the most waiting gets 503. */
    moduleQueue: 32,
    /** The largest JavaScript heap of a process that works on modules. */
    moduleWorkerMemoryMiB: 1024,
    moduleTimeoutPerMiBMs: second,
    /** Simulations that wait for a process. */
    simulationQueue: 256,
    /** Processes that are started ahead of simulations, from the first one on. */
    simulationSpares: 1,
    /** Correct passwords for one account. The limit exists because a password hash is expensive. */
    signInsPerMinute: 20,
    /** Command-line logins with a device code that one address may start. */
    deviceLoginsPerMinute: 10,
    /** Fetches of packages and of documentation by one address. */
    publicReadsPerMinute: 600,
    /** How often the queue of mails is read. */
    mailPollMs: 2 * second,
    /** How long a process may take to send a mail that it has claimed: longer than sending takes, and than clocks of nodes differ. */
    mailLeaseMs: 300 * second,
    /** How often the queue of webhook deliveries is read. */
    webhookPollMs: second,
    /** How long a process may take for a delivery that it has claimed: longer than an attempt takes, and than clocks of nodes differ. */
    webhookLeaseMs: 60 * second,
    /** How often the queue of tests is read. */
    simulationPollMs: 2 * second,
    /** How long a process that claimed a test may be silent. It renews the lease three times as often. */
    simulationLeaseMs: 30 * second,
    /** When an errored test is repeated for the first time. Each further time, it takes twice as long. */
    simulationRetryMs: 5 * second,
    /** How long a publish waits for the verdict. */
    simulationWaitMs: 2 * second,
    /** How long a process that follows the source of a mirror may be silent. It renews the lease three times as often. */
    mirrorLeaseMs: 10 * second,
    /** How often a mirror reads which applications and extension points there are. */
    mirrorRefreshMs: 60 * second,
    /** How often a mirror compares all lists and versions with the source. */
    mirrorResyncMs: hour,
    /** How long a mirror keeps a content that no list names, because hosts may have older lists. */
    mirrorKeepMs: 7 * day,
    otelTimeoutMs: 10 * second,
    /** Spans that wait to be sent; further ones are dropped and counted. */
    otelQueueSize: 2048,
    otelBatchSize: 512,
    otelBatchDelayMs: 5 * second,
  };
}

export type Settings = SettingValues & Readonly<ReturnType<typeof derivedValues>>;
