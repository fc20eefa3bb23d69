import type { AppId, UserId } from '@tenon/protocol';

const GiB = 2 ** 30;

export interface QuotaDeclaration {
  /** Whether the quota is for each account or for each application. */
  readonly of: 'account' | 'application';
  readonly default: number;
  readonly isBytes?: true;
  /** The counted things, as a noun phrase that follows a number. */
  readonly what: string;
}

/** All quotas of accounts and applications. */
export const quotas = {
  applications: { of: 'account', default: 20, what: 'applications that the account owns' },
  tokens: { of: 'account', default: 50, what: 'access tokens that have not expired' },
  'api-keys': { of: 'account', default: 50, what: 'API keys that have not expired' },
  'account-bytes': {
    of: 'account',
    default: 5 * GiB,
    isBytes: true,
    what: 'bytes of published versions of the account',
  },
  'mails-per-day': { of: 'account', default: 1000, what: 'invitations mailed within a day' },
  'simulations-per-day': {
    of: 'account',
    default: 10_000,
    what: 'simulations run within a day, for publishes, dry runs, and trials',
  },
  'app-bytes': {
    of: 'application',
    default: 20 * GiB,
    isBytes: true,
    what: 'bytes of published versions, simulations, and reports',
  },
  'extension-points': { of: 'application', default: 500, what: 'extension points' },
  'schema-bytes': { of: 'application', default: 8 * 2 ** 20, isBytes: true, what: 'bytes of schemas' },
  webhooks: { of: 'application', default: 20, what: 'webhooks' },
  guests: { of: 'application', default: 100_000, what: 'guests and open invitations' },
  plugins: { of: 'application', default: 10_000, what: 'plugins' },
  versions: { of: 'application', default: 1000, what: 'versions of one plugin' },
  'publish-burst': { of: 'application', default: 10, what: 'versions of one plugin published at once' },
  'publishes-per-hour': {
    of: 'application',
    default: 60,
    what: 'versions of one plugin published in an hour, after the burst',
  },
  'app-simulations-per-day': {
    of: 'application',
    default: 50_000,
    what: 'simulations run within a day, for publishes, dry runs, and trials',
  },
} as const satisfies Readonly<Record<string, QuotaDeclaration>>;

export type QuotaName = keyof typeof quotas;

/** The configured limits. Missing ones have the defaults of {@link quotas}. */
export interface Quotas {
  /** The limits for every account and application. */
  readonly all: Readonly<Partial<Record<QuotaName, number>>>;
  /** The limits for one account or application, by its id. An object, because the configuration is sent to workers as JSON. */
  readonly byId: Readonly<Record<string, Readonly<Partial<Record<QuotaName, number>>>>>;
}

export const defaultQuotas: Quotas = { all: {}, byId: {} };

/** Returns the limit of a quota for an account or an application. */
export function quotaLimit({ all, byId }: Quotas, name: QuotaName, id: AppId | UserId): number {
  return byId[id]?.[name] ?? all[name] ?? quotas[name].default;
}
