import { availableParallelism } from 'node:os';
import {
  byteSize,
  choice,
  databaseUrl,
  days,
  fieldName,
  httpUrl,
  list,
  port,
  positiveInteger,
  seconds,
  secondsOrNone,
  text,
  trustedAddress,
  workerCount,
  yesOrNo,
} from './config-readers.ts';
import { defaultQuotas, type Quotas } from './domain/quotas.ts';
import { quotaList } from './quota-setting.ts';
import { type Setting, setting } from './setting.ts';
import { tracingSettings } from './tracing/settings.ts';

const MiB = 1024 * 1024;
const second = 1000;

/** Every setting of the server. `docs/reference/configuration.md` shows the same. */
export const settings = {
  host: setting('TENON_HOST', text, '127.0.0.1', 'the address to listen on'),
  port: setting('TENON_PORT', port, 8366, 'the port to listen on; 0 takes any that is free'),
  dataDir: setting(
    'TENON_DATA_DIR',
    text,
    './tenon-data',
    'the folder with quickstart.env, and with the metadata and the plugins unless they are elsewhere',
  ),
  publicUrl: setting<string | undefined>(
    'TENON_PUBLIC_URL',
    httpUrl,
    undefined,
    'where clients reach the server, with a path prefix if there is one; by default http://localhost:PORT, or http://HOST:PORT when it listens on one address that is not localhost',
  ),
  instrumentUrl: setting<string | undefined>(
    'TENON_INSTRUMENT_URL',
    httpUrl,
    undefined,
    'where clients reach /instrument; the public URL by default',
  ),
  trustedProxies: setting<readonly string[]>(
    'TENON_TRUSTED_PROXIES',
    list(trustedAddress),
    [],
    'addresses and CIDR ranges of proxies, separated by commas, whose forwarding header counts',
  ),
  forwardedHeader: setting(
    'TENON_FORWARDED_HEADER',
    fieldName,
    'x-forwarded-for',
    'the one header field in which those proxies tell the address of a client: `forwarded` is read as RFC 7239 has it, any other one as a list of addresses, the nearest last. All others are ignored',
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
    'processes that serve requests together: a number up to 256, or `auto` for as many as there are cores. Threads, queues, connections, memory and rates are configured for all of them together',
  ),
  metricsPort: setting<number | undefined>(
    'TENON_METRICS_PORT',
    port,
    undefined,
    'a second port that answers `GET /metrics` to whoever reaches it; 0 takes any that is free, and by default there is none',
  ),
  metricsHost: setting(
    'TENON_METRICS_HOST',
    text,
    '127.0.0.1',
    'the address to listen on with that port: one that the public does not reach',
  ),
  only: setting<'instrument' | undefined>(
    'TENON_ONLY',
    choice('instrument'),
    undefined,
    '"instrument" serves the instrumentation endpoint alone',
  ),

  databaseUrl: setting<string | undefined>(
    'TENON_DATABASE_URL',
    databaseUrl,
    undefined,
    'the PostgreSQL database that keeps the metadata, `postgresql://user:password@host:port/name`; by default a file in the data folder keeps it',
  ),
  databaseConnections: setting(
    'TENON_DATABASE_CONNECTIONS',
    positiveInteger,
    8,
    'the most connections to PostgreSQL that a node uses for reading, and as many for writing',
  ),
  s3Bucket: setting<string | undefined>(
    'TENON_S3_BUCKET',
    text,
    undefined,
    'the bucket of an S3-compatible object store that keeps the plugins; by default the data folder keeps them',
  ),
  s3Endpoint: setting<string | undefined>(
    'TENON_S3_ENDPOINT',
    httpUrl,
    undefined,
    "the URL of the object store; by default Amazon's for the region",
  ),
  s3Region: setting(
    'TENON_S3_REGION',
    text,
    'us-east-1',
    "the bucket's region; stores other than Amazon's mostly take this one",
  ),
  s3Prefix: setting('TENON_S3_PREFIX', text, '', 'what the keys of all objects begin with'),
  s3AccessKeyId: setting<string | undefined>(
    'TENON_S3_ACCESS_KEY_ID',
    text,
    undefined,
    "the access key, with its secret beside it; by default what Amazon's own tools find: `AWS_` variables, files, or the machine's role",
  ),
  s3SecretAccessKey: setting<string | undefined>(
    'TENON_S3_SECRET_ACCESS_KEY',
    text,
    undefined,
    "the access key's secret",
  ),
  s3PathStyle: setting<boolean | undefined>(
    'TENON_S3_PATH_STYLE',
    yesOrNo,
    undefined,
    'whether the bucket is named in the path of URLs, rather than in the host; by default it is where an endpoint is set',
  ),

  maxModuleBytes: setting(
    'TENON_MAX_MODULE_BYTES',
    byteSize,
    64 * MiB,
    'the largest module that is published or instrumented',
  ),
  maxJsonBytes: setting('TENON_MAX_JSON_BYTES', byteSize, MiB / 4, 'the largest JSON body'),
  maxConfigBytes: setting('TENON_MAX_CONFIG_BYTES', byteSize, MiB, 'the largest instrumentation configuration'),
  maxMultipartParts: setting(
    'TENON_MAX_MULTIPART_PARTS',
    positiveInteger,
    8,
    'the most parts that a multipart body may have',
  ),
  maxBodyMemoryBytes: setting(
    'TENON_MAX_BODY_MEMORY_BYTES',
    byteSize,
    512 * MiB,
    'the memory for the bodies of all requests and responses together. An account with several requests holds at most what is left for others. A request beyond that is answered 503',
  ),
  maxHeaderBytes: setting(
    'TENON_MAX_HEADER_BYTES',
    byteSize,
    16 * 1024,
    'the largest request line and header fields together',
  ),
  maxPluginsPerGuest: setting(
    'TENON_MAX_PLUGINS_PER_GUEST',
    positiveInteger,
    1000,
    'the most plugins that one guest may have at one extension point',
  ),
  quotas: setting<Quotas>(
    'TENON_QUOTAS',
    quotaList,
    defaultQuotas,
    'quotas, separated by commas, such as `applications=100,app-bytes=50GiB`; with an id before the name for one account or application: `app_01j29hxk3mfpq8ad68ha6hbsex:app-bytes=200GiB`. See [quotas](limits.md)',
  ),
  answerCacheBytes: setting(
    'TENON_ANSWER_CACHE_BYTES',
    byteSize,
    128 * MiB,
    'how much binding lists, and who may do what, may take in memory, so that hosts are answered without a question to the store: about 1.5 KiB for each list that a token asks for',
  ),
  contentCacheBytes: setting(
    'TENON_CONTENT_CACHE_BYTES',
    byteSize,
    128 * MiB,
    'how much plugin content is kept in memory for reading; one of at most an eighth of this is kept',
  ),
  invitationLifetimeMs: setting(
    'TENON_INVITATION_LIFETIME_SECONDS',
    seconds,
    7 * 24 * 60 * 60 * second,
    'how long an invitation works',
  ),

  newsRetentionMs: setting(
    'TENON_NEWS_RETENTION_DAYS',
    days,
    7 * 24 * 60 * 60 * second,
    'for how long hosts that come back are told which binding lists changed meanwhile; after that they ask for each anew',
  ),
  newsPerApp: setting(
    'TENON_NEWS_PER_APP',
    positiveInteger,
    10_000,
    'how many changes of binding lists are kept for an application, to be told to hosts that come back',
  ),
  newsStreams: setting(
    'TENON_NEWS_STREAMS',
    positiveInteger,
    4096,
    'how many streams of news there may be at once; further ones are answered 503',
  ),
  newsStreamsPerAccount: setting(
    'TENON_NEWS_STREAMS_PER_ACCOUNT',
    positiveInteger,
    64,
    "how many of these may be one account's, with all its tokens; further ones are answered 429. No account gets more than are left for others",
  ),
  newsHeartbeatMs: setting(
    'TENON_NEWS_HEARTBEAT_SECONDS',
    seconds,
    15 * second,
    'how often a stream of news says that it is still there, when there is nothing to tell',
  ),

  collectIntervalMs: setting(
    'TENON_COLLECT_INTERVAL_SECONDS',
    seconds,
    60 * 60 * second,
    'how often plugin content that no version names is looked for, and collected',
  ),
  collectGraceMs: setting(
    'TENON_COLLECT_GRACE_SECONDS',
    seconds,
    24 * 60 * 60 * second,
    'how long such content stays after it was first found',
  ),
  auditRetentionMs: setting<number | undefined>(
    'TENON_AUDIT_RETENTION_DAYS',
    days,
    undefined,
    'how long audit trails are kept; for good by default',
  ),

  signUp: setting(
    'TENON_SIGN_UP',
    choice('open', 'invitation', 'off'),
    'invitation',
    'who may make an account: "open" lets everybody, "invitation" those who hold an invitation\'s link, "off" only those who hold a set-up link of the operator\'s, which the others take too',
  ),
  createApps: setting(
    'TENON_CREATE_APPS',
    choice('operators', 'members', 'all'),
    'members',
    'who may make an application: "operators", "members" also accounts that belong to the team of one already, "all" every account, guests included',
  ),
  sessionLifetimeMs: setting(
    'TENON_SESSION_LIFETIME_SECONDS',
    seconds,
    30 * 24 * 60 * 60 * second,
    'how long a browser stays signed in',
  ),
  linkLifetimeMs: setting(
    'TENON_LINK_LIFETIME_SECONDS',
    seconds,
    24 * 60 * 60 * second,
    'how long a set-up or password link works',
  ),
  passwordThreads: setting(
    'TENON_PASSWORD_THREADS',
    positiveInteger,
    2,
    'threads that hash passwords; each takes 64 MiB while it does. One more begins when all of them work for one account or address, and another one waits',
  ),
  passwordQueue: setting(
    'TENON_PASSWORD_QUEUE',
    positiveInteger,
    32,
    'how many passwords may wait for a thread, of all accounts and addresses together, served in rotation; when the queue is full, the account or address with the most waiting is answered 503 first',
  ),

  maxConnections: setting(
    'TENON_MAX_CONNECTIONS',
    positiveInteger,
    10_000,
    'connections that a node may have open; for a further one the oldest is closed that is not in use, of the network that has the most; where all are in use, a network with more than half of them gives one up to another, and else the further one is answered 503; fewer where the process may open fewer descriptors (`ulimit -n`), which the log warns of',
  ),
  headerTimeoutMs: setting(
    'TENON_HEADER_TIMEOUT_SECONDS',
    seconds,
    15 * second,
    'how long a client may take to send its header fields',
  ),
  bodyTimeoutMs: setting(
    'TENON_BODY_TIMEOUT_SECONDS',
    seconds,
    600 * second,
    'how long a client may take to send a whole request',
  ),
  idleTimeoutMs: setting(
    'TENON_IDLE_TIMEOUT_SECONDS',
    seconds,
    30 * second,
    'how long a client may send, or take, nothing in the middle of a body; and how long the whole body of a client may take that did not have to say who it is',
  ),
  keepAliveTimeoutMs: setting(
    'TENON_KEEP_ALIVE_SECONDS',
    seconds,
    72 * second,
    'how long an unused connection is kept open',
  ),
  drainMs: setting(
    'TENON_DRAIN_SECONDS',
    secondsOrNone,
    0,
    'for how long a shutdown serves on before it begins, while `/readyz` answers 503: the time in which load balancers find that out',
  ),
  shutdownTimeoutMs: setting(
    'TENON_SHUTDOWN_SECONDS',
    seconds,
    20 * second,
    'how long a shutdown waits for what is in flight',
  ),

  moduleWorkers: setting(
    'TENON_MODULE_WORKERS',
    positiveInteger,
    availableParallelism(),
    'processes that check and instrument modules and read schemas; by default as many as there are cores. One more begins when all of them work for one account, and another one waits',
  ),
  moduleQueue: setting(
    'TENON_MODULE_QUEUE',
    positiveInteger,
    32,
    'how many modules may wait for such a process, of all accounts together, served in rotation; when the queue is full, the account or address with the most waiting is answered 503 first',
  ),
  moduleWorkerMemoryMiB: setting(
    'TENON_MODULE_WORKER_MEMORY_MIB',
    positiveInteger,
    1024,
    'the largest JavaScript heap of one such process, in MiB',
  ),
  moduleTimeoutMs: setting(
    'TENON_MODULE_TIMEOUT_SECONDS',
    seconds,
    10 * second,
    'how long a process may work on a module, and',
  ),
  moduleTimeoutPerMiBMs: setting(
    'TENON_MODULE_TIMEOUT_SECONDS_PER_MIB',
    seconds,
    second,
    'how much longer for each MiB that it has',
  ),

  requestsPerAccount: setting(
    'TENON_REQUESTS_PER_ACCOUNT',
    positiveInteger,
    256,
    'requests of one account, with all its tokens, that may be under way at once, beside streams of news and binding lists that are answered from memory; further ones are answered 429',
  ),
  writesPerSecond: setting(
    'TENON_WRITES_PER_SECOND',
    positiveInteger,
    100,
    'changes a second that one token, or API key, may make in the long run',
  ),
  writeBurst: setting('TENON_WRITE_BURST', positiveInteger, 1000, 'changes that one token may make at once'),
  codeTriesPerMinute: setting(
    'TENON_CODE_TRIES_PER_MINUTE',
    positiveInteger,
    20,
    'unknown codes of invitations, links and command-line logins a minute that one address may try, and unknown tokens that it may revoke',
  ),
  deviceLoginsPerMinute: setting(
    'TENON_DEVICE_LOGINS_PER_MINUTE',
    positiveInteger,
    10,
    'command-line logins a minute that one address may begin with a code to type',
  ),
  signInTriesPerMinute: setting(
    'TENON_SIGN_IN_TRIES_PER_MINUTE',
    positiveInteger,
    20,
    'wrong passwords a minute that one address may try',
  ),
  accountTriesPerHour: setting(
    'TENON_ACCOUNT_TRIES_PER_HOUR',
    positiveInteger,
    30,
    "wrong passwords an hour for one account: from all browsers together that it doesn't know, and from each that it knows",
  ),
  signInsPerMinute: setting(
    'TENON_SIGN_INS_PER_MINUTE',
    positiveInteger,
    20,
    'right passwords a minute for one account; looking at them costs more than anything else here',
  ),
  signUpsPerHour: setting(
    'TENON_SIGN_UPS_PER_HOUR',
    positiveInteger,
    20,
    'accounts an hour that one address may make, other than by links of the operator',
  ),
  inviterSignUpsPerDay: setting(
    'TENON_INVITER_SIGN_UPS_PER_DAY',
    positiveInteger,
    20,
    'accounts a day that may be made through the invitations of one account',
  ),

  ...tracingSettings,
} as const;

/** The settings' values, by name. Times are milliseconds, sizes bytes unless the name says otherwise. */
export type Settings = {
  readonly [Name in keyof typeof settings]: (typeof settings)[Name] extends Setting<infer T> ? T : never;
};
