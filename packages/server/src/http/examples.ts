import { extensionPointExample } from '@tenon/protocol';

/** Examples for the OpenAPI description. A test validates each against its schema. */
export const example = {
  appId: 'app_01j29hxk3mfpq8ad68ha6hbsex',
  extensionPointId: 'ext_01j29hxk3mfpq8ad68ha6hbsex',
  userId: 'usr_01j29hxk3mfpq8ad68ha6hbsex',
  guestId: 'gst_01j29hxk3mfpq8ad68ha6hbsex',
  invitationId: 'inv_01j29hxk3mfpq8ad68ha6hbsex',
  versionId: 'ver_01j29hxk3mfpq8ad68ha6hbsex',
  tokenId: 'tok_01j29hxk3mfpq8ad68ha6hbsex',
  apiKeyId: 'key_01j29hxk3mfpq8ad68ha6hbsex',
  sessionId: 'ses_01j29hxk3mfpq8ad68ha6hbsex',
  deviceGrantId: 'dev_01j29hxk3mfpq8ad68ha6hbsex',
  identityId: 'idn_01j29hxk3mfpq8ad68ha6hbsex',
  simulationId: 'sim_01j29hxk3mfpq8ad68ha6hbsex',
  auditEventId: 'evt_01j29hxk3mfpq8ad68ha6hbsex',
  contentAddress: '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU',
  time: '2026-03-01T12:00:00.000Z',
} as const;

export const accountExample = {
  id: example.userId,
  name: 'Ada',
  email: 'ada@example.org',
  isOperator: false,
  mayCreateApps: true,
  isEmailVerified: true,
  hasPassword: true,
  notices: {
    approvals: true,
    withdrawals: true,
    signIns: true,
    newNetworks: true,
    expiries: true,
    quotas: true,
    webhooks: true,
    rollOuts: true,
  },
};

export const revokedCredentialsExample = { sessions: 2, tokens: 3, apiKeys: 1 };

export const appExample = {
  id: example.appId,
  name: 'Acme Spreadsheet',
  requiresPasskey: false,
  role: 'owner' as const,
  guests: [{ id: example.guestId, label: 'Globex' }],
  hasMoreGuests: false,
  createdAt: example.time,
  updatedAt: example.time,
};

export const schemaRevisionsExample = {
  objects: [
    {
      id: example.auditEventId,
      at: example.time,
      user: { id: example.userId, name: 'Ada' },
      before: { exports: { evaluate: {} } },
      after: { exports: { evaluate: {}, describe: {} } },
      simulation: null,
    },
  ],
};

export const schemaTrialExample = {
  schema: { exports: { evaluate: {}, describe: {} } },
  warnings: [],
  limits: extensionPointExample.limits,
  checked: 12,
  breaking: 1,
  objects: [
    {
      pluginId: `${example.extensionPointId}/plugin/${example.userId}/median`,
      userName: 'Ada',
      name: 'median',
      version: 3,
      guestIds: [example.guestId],
      hasMoreGuests: false,
      mismatches: [
        {
          code: 'missing_export',
          pointer: '/exports/describe',
          detail: 'The module does not export the function "describe"; it exports "describ".',
        },
      ],
      isBrokenAlready: false,
    },
  ],
  unreadable: [],
  hasMoreUnreadable: false,
};

const versionSummaryExample = {
  id: example.versionId,
  number: 3,
  semver: '1.4.0',
  note: 'Takes empty cells for nothing.',
  state: 'awaiting_approval' as const,
  stateReason: null,
  verdict: 'passed' as const,
  provenance: 'verified' as const,
  createdAt: example.time,
  releaseAt: null,
};

export const versionExample = {
  ...versionSummaryExample,
  contentAddress: example.contentAddress,
  size: 18_231,
  stateChangedAt: example.time,
  decidedBy: null,
  guestIds: [example.guestId],
  boundGuestIds: [],
  hasMoreGuests: false,
  rollOut: null,
  oci: {
    repository: `tenon.example.org/${example.appId}/${example.extensionPointId}/${example.userId}/median`,
    tag: null,
    digest: `sha256:${'0'.repeat(64)}`,
  },
};

export const attestationExample = {
  id: 'atn_01j29hxk3mfpq8ad68ha6hbsex',
  kind: 'provenance' as const,
  predicateType: 'https://slsa.dev/provenance/v1',
  version: 3,
  state: 'verified' as const,
  detail: null,
  signer: {
    keyId: null,
    issuer: 'https://token.actions.githubusercontent.com',
    identity: 'https://github.com/acme/median/.github/workflows/publish.yml@refs/tags/v1.4.0',
    repository: 'https://github.com/acme/median',
    workflow: 'https://github.com/acme/median/.github/workflows/publish.yml@refs/tags/v1.4.0',
    commit: '0123456789abcdef0123456789abcdef01234567',
    runUrl: 'https://github.com/acme/median/actions/runs/7/attempts/1',
  },
  createdAt: example.time,
  bundle: { mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json' },
};

export const extensionPointAttestationExample = {
  predicate: {
    server: 'https://plugins.example.com',
    appId: example.appId,
    extensionPointId: example.extensionPointId,
    bindings: 12,
    changedAt: example.time,
  },
  bundle: { mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json' },
};

export const dryRunExample = {
  changed: 1,
  unchanged: 0,
  outcomes: [{ pluginName: 'median', before: 3, after: 2, guests: 1 }],
  changes: [{ pluginName: 'median', before: 3, after: 2, guestId: example.guestId, guestKey: 'customers/globex' }],
  hasMore: false,
};

export const approvalExample = {
  pluginId: `${example.extensionPointId}/plugin/${example.userId}/median`,
  extensionPoint: { id: example.extensionPointId, name: 'Formula functions' },
  user: { id: example.userId, name: 'Grace' },
  name: 'median',
  guests: [{ id: example.guestId, guestKey: 'customers/globex' }],
  similarPlugins: [],
  version: versionExample,
};

export const publishedVersionExample = {
  pluginId: `${example.extensionPointId}/plugin/${example.userId}/median`,
  name: 'median',
  app: { id: example.appId, name: 'Sheets' },
  extensionPoint: { id: example.extensionPointId, name: 'Formula functions' },
  user: { id: example.userId, name: 'Grace' },
  version: versionSummaryExample,
  credentialId: example.tokenId,
  trustRuleId: null,
};

export const massYankExample = {
  versions: [publishedVersionExample],
  versionCount: 1,
  pluginCount: 1,
  appCount: 1,
  revoked: [example.tokenId],
  isDryRun: false,
};

export const blockedPublisherExample = {
  user: { id: example.userId, name: 'Grace' },
  reason: 'The account was taken over.',
  blockedAt: example.time,
};

export const withdrawalExample = {
  contentAddress: example.contentAddress,
  user: { id: example.userId, name: 'Grace' },
  pluginName: 'median',
  state: 'yanked' as const,
  reason: 'Sends what it reads to a third party.',
  withdrawnAt: example.time,
};

const bindingExample = {
  guestId: example.guestId,
  guestKey: 'customers/globex',
  version: 2,
  isPinned: false,
  pinnedTo: null,
  rolledBackTo: null,
};

export const pluginBindingExample = { ...bindingExample, updatedAt: example.time };

export const guestBindingExample = {
  pluginId: `${example.extensionPointId}/plugin/${example.userId}/median`,
  extensionPoint: { id: example.extensionPointId, name: 'Formula functions' },
  name: 'median',
  user: { id: example.userId, name: 'Grace' },
  version: 2,
  contentAddress: example.contentAddress,
  pinnedVersion: 2,
  rolledBackTo: null,
  isBlocked: false,
  blockReason: null,
  updatedAt: example.time,
};

export const pluginExample = {
  id: `${example.extensionPointId}/plugin/${example.userId}/median`,
  extensionPointId: example.extensionPointId,
  userId: example.userId,
  userName: 'Grace',
  name: 'median',
  description: 'The median of a range.',
  homepage: 'https://median.example.org/',
  contentAddress: example.contentAddress,
  size: 18_231,
  version: versionSummaryExample,
  status: {
    state: 'awaiting_approval' as const,
    reason: null,
    isPublisherBlocked: false,
    detail: "Version 3 awaits approval by the application's team. Version 2 is active for 1 guest.",
    bindings: [bindingExample],
  },
  guestIds: [example.guestId],
  hasMoreGuests: false,
  createdAt: example.time,
  updatedAt: example.time,
};

const noItems = { total: 0, items: [] };
const diffedModule = {
  bytes: 1148,
  functionCount: 2,
  importedFunctionCount: 0,
  exportCount: 2,
  memories: {
    total: 1,
    items: [{ minimumPages: 1, pageBytes: 65_536, isImported: false, isExported: true, isShared: false }],
  },
  features: ['sign-extension'],
  isInstrumented: false,
  hasNames: true,
};

export const versionDiffExample = {
  against: 2,
  before: diffedModule,
  after: { ...diffedModule, bytes: 1164, functionCount: 3, importedFunctionCount: 1 },
  imports: {
    added: { total: 1, items: [{ name: 'env.now', kind: 'function' as const, type: '() → (i64)' }] },
    removed: noItems,
  },
  exports: { added: noItems, removed: noItems, changed: noItems },
  functions: {
    added: noItems,
    removed: noItems,
    changed: { total: 1, items: [{ name: 'evaluate', bytes: 47, bytesBefore: 36 }] },
    unchanged: 1,
  },
  sections: { total: 1, items: [{ name: 'code', isCustom: false, bytesBefore: 92, bytes: 103 }] },
};

export const instrumentationReportExample = {
  tracedFunctions: 1,
  totalFunctions: 2,
  addedImports: ['enter', 'exit'],
  inputBytes: 1148,
  outputBytes: 1335,
  notes: [
    {
      code: 'name_not_found',
      message: 'No function is called "gret", which is in "allowed"; is "greet" meant?',
      list: 'allowed',
      name: 'gret',
      nearName: 'greet',
    },
  ],
  functions: [
    {
      index: 0,
      name: 'env.log',
      nameSource: 'import' as const,
      exportNames: [],
      import: { module: 'env', name: 'log' },
      isTraced: false,
    },
    { index: 1, name: 'greet', nameSource: 'export' as const, exportNames: ['greet'], bodyBytes: 47, isTraced: true },
  ],
};

export const pluginSummaryExample = {
  id: pluginExample.id,
  extensionPoint: { id: example.extensionPointId, name: 'Formula functions' },
  user: { id: example.userId, name: 'Grace' },
  name: pluginExample.name,
  description: pluginExample.description,
  contentAddress: example.contentAddress,
  size: pluginExample.size,
  version: pluginExample.version,
  state: 'published' as const,
  reason: null,
  activeVersions: [2],
  guests: [{ id: example.guestId, guestKey: 'customers/globex' }],
  guestCount: 1,
  hasMoreGuests: false,
  createdAt: example.time,
  updatedAt: example.time,
};
