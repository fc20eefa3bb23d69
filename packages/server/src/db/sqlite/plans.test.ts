import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { newId, noProvenancePolicy } from '@tenon/protocol';
import { Kysely } from 'kysely';
import {
  addressOf,
  simulationRecord,
  simulationRunRecord,
  someHash,
  versionRecord,
} from '../../../test/helpers/records.ts';
import type { PublishedVersion, PublishSelection } from '../../plugins/mass-yank-queries.ts';
import { queries, statements, transaction } from '../../queries.ts';
import type { AuditFilter } from '../audit-records.ts';
import type { BindingFilter } from '../change-records.ts';
import type { Database } from '../records.ts';
import { noLimits } from '../records.ts';
import type { RollOutRecord } from '../roll-out-records.ts';
import type { GuestSearch, Mutations, PluginSearch, Queries, SortedPage, Transaction, UserSearch } from '../store.ts';
import { encodeForSqlite } from './connection.ts';
import { writingDialect } from './dialect.ts';
import { openWriter } from './files.ts';
import { openSqliteStore } from './store.ts';

const [app, point, user, guest] = [newId('app'), newId('extensionPoint'), newId('user'), newId('guest')];
const session = newId('session');
const trustRuleId = newId('trustRule');
const [webhookId, deliveryId] = [newId('webhook'), newId('webhookDelivery')];
const ociUploadId = newId('ociUpload');
const key = { extensionPointId: point, userId: user, name: 'plugin' };
const version = versionRecord(key);
const callSums = { calls: 1, errors: 0, durations: { 4: 1 }, memoryBytes: null };
const callReport = { versionId: version.id, series: 'version', kind: 'slot', fromMs: 1, ...callSums } as const;
const claim = { ...key, guestId: guest };
const everyScope = [key, { extensionPointId: point }, { appId: app }];
const everyOwner = [...everyScope, { userId: user }];
const page = { after: `${user}/plugin`, limit: 10 };
const mirroredApp = { id: app, name: 'a', requiresPasskey: false, createdAtMs: 1, updatedAtMs: 1 };
const mirrorHosts = {
  ...{ id: user, name: 'a', email: null, createdAtMs: 1, lastSeenAtMs: 0 },
  ...{ suspendedAtMs: null, deletedAtMs: null },
};

const everyAuditFilter: readonly AuditFilter[] = [
  {},
  { action: 'app.update' },
  { userId: user },
  { targetId: guest },
  { fromMs: 1 },
  { toMs: 2 },
  { action: 'app.update', userId: user, targetId: guest, fromMs: 1, toMs: 2 },
];

const everyGuestSearch: readonly GuestSearch[] = [
  { nowMs: 1 },
  { nowMs: 1, text: 'a' },
  ...(['active', 'invited', 'inactive'] as const).map((state) => ({ nowMs: 1, state })),
];

const everyPluginSearch: readonly PluginSearch[] = [
  {},
  { userId: user },
  { text: 'a', searchesGuestKeys: true },
  { state: 'blocked' },
  { state: 'published', userId: user, text: 'a' },
  { isBound: true, extensionPointId: point },
  { isBound: false },
];

/** Calls a query for the first page, the one after a cursor, and the one before it, in each order. */
function inOrders<S extends string, R>(sorts: readonly S[], values: number, list: (page: SortedPage<S>) => R): R[] {
  const cursor = values === 1 ? 'a' : JSON.stringify(Array.from({ length: values }, () => 'a'));
  return sorts.flatMap((sort) =>
    [{}, { after: cursor }, { before: cursor }].map((range) => list({ ...range, sort, limit: 10 })),
  );
}

const everyBindingFilter: readonly BindingFilter[] = [
  { extensionPointId: point, guestIds: [guest], name: 'plugin' },
  key,
  { guestIds: [guest] },
  { guestIds: [guest], userId: user },
  { userId: user },
];

const override = { subjectId: user, name: 'tokens', userId: user, appId: null, value: 9, updatedAtMs: 1 };
const lastUse = { usedAtMs: 1, address: '192.0.2.1' };
const usagePeriod = { fromMs: 0, toMs: 1 };
const belongsToNothing = { extensionPointId: null, userId: null, name: null, versionId: null, guestId: null };
const usageSubject = { id: app, appId: app, ...belongsToNothing, listedAtMs: 1, fetchedAtMs: null, reportedAtMs: null };
const usageDay = { subjectId: app, dayMs: 0, listRequests: 1, contentFetches: 0, loadReports: 0, detail: {} };
const everyUserSearch: readonly UserSearch[] = [
  {},
  { text: 'a' },
  { state: 'operator' },
  { state: 'suspended', text: 'a' },
];

const everySelection: readonly PublishSelection[] = [
  { credentialId: newId('token'), sinceMs: 1 },
  { credentialId: newId('session'), appId: app, sinceMs: 0 },
  { trustRuleId: newId('trustRule'), sinceMs: 0 },
  { userId: user, sinceMs: 0 },
  { userId: user, credentialId: newId('token'), sinceMs: 1 },
  { userId: user, appId: app, sinceMs: 1 },
];

const rollOut: RollOutRecord = {
  ...key,
  versionId: version.id,
  appId: app,
  state: 'running',
  plan: { steps: [{ percent: 1, holdSeconds: 1 }], halt: null },
  step: 0,
  reason: null,
  createdAtMs: 1,
  stepAtMs: 1,
  updatedAtMs: 1,
  dueAtMs: 1001,
  endedAtMs: null,
};

const ofMassYank = { ...version, appId: app } as unknown as PublishedVersion;

/** A call of every query. One that is missing here does not compile. */
const everyQuery: { [M in keyof Queries]: (ask: Queries) => Promise<unknown>[] } = {
  user: (ask) => [ask.user(user)],
  users: (ask) => [
    ask.users(page),
    ...everyUserSearch.map((search) => ask.users(page, search)),
    ...inOrders(['createdAt', '-createdAt'], 1, (range) => ask.users(range)),
    ...inOrders(['name', '-name'], 2, (range) => ask.users(range)),
    ask.users({ sort: '-lastSeenAt', after: '["1","a"]', limit: 10 }),
  ],
  countUsersFound: (ask) => everyUserSearch.map((search) => ask.countUsersFound(search)),
  countAppsOf: (ask) => [ask.countAppsOf([user, newId('user')])],
  userNames: (ask) => [ask.userNames([user, newId('user')])],
  anyUser: (ask) => [ask.anyUser()],
  userByEmail: (ask) => [ask.userByEmail('ada@example.org')],
  password: (ask) => [ask.password(user)],
  passwordByEmail: (ask) => [ask.passwordByEmail('ada@example.org')],
  session: (ask) => [ask.session(session)],
  sessionByHash: (ask) => [ask.sessionByHash(someHash())],
  countSessions: (ask) => [ask.countSessions(user, 1)],
  sessions: (ask) => [ask.sessions(user, {}), ask.sessions(user, page)],
  knownBrowserByHash: (ask) => [ask.knownBrowserByHash(someHash())],
  oneTimeLinkByHash: (ask) => [ask.oneTimeLinkByHash(someHash())],
  authorizationCodeByHash: (ask) => [ask.authorizationCodeByHash(someHash())],
  deviceGrantByDeviceCode: (ask) => [ask.deviceGrantByDeviceCode(someHash())],
  deviceGrant: (ask) => [ask.deviceGrant(newId('deviceGrant'))],
  approvedDeviceGrants: (ask) => [ask.approvedDeviceGrants(user, {}), ask.approvedDeviceGrants(user, page)],
  deviceGrantByUserCode: (ask) => [ask.deviceGrantByUserCode(someHash())],
  app: (ask) => [ask.app(app)],
  appsOf: (ask) => [
    ...[undefined, app].flatMap((within) => [ask.appsOf(user, within, {}), ask.appsOf(user, within, page)]),
    ...inOrders(['name', '-name'], 2, (range) => ask.appsOf(user, undefined, range, 'a')),
  ],
  countAppsFound: (ask) => [ask.countAppsFound(user, undefined, undefined), ask.countAppsFound(user, app, 'a')],
  member: (ask) => [ask.member(app, user)],
  members: (ask) => [
    ask.members(app, {}),
    ask.members(app, page),
    ...inOrders(['name', '-name'], 2, (range) => ask.members(app, range, 'a')),
    ...inOrders(['role', '-role'], 3, (range) => ask.members(app, range)),
  ],
  countMembersFound: (ask) => [ask.countMembersFound(app, undefined), ask.countMembersFound(app, 'a')],
  countBlockedPlugins: (ask) => [ask.countBlockedPlugins(app)],
  countPendingInvitations: (ask) => [ask.countPendingInvitations(app, 1)],
  firstExtensionPoints: (ask) => [ask.firstExtensionPoints(app, 9)],
  overviewExample: (ask) => [ask.overviewExample(app)],
  countOwners: (ask) => [ask.countOwners(app)],
  isMemberOfAny: (ask) => [ask.isMemberOfAny(user)],
  appsOwnedAlone: (ask) => [ask.appsOwnedAlone(user)],
  extensionPoint: (ask) => [ask.extensionPoint(point)],
  bindingsDeletedAtMs: (ask) => [ask.bindingsDeletedAtMs(point)],
  extensionPoints: (ask) => [
    ask.extensionPoints(app, {}),
    ask.extensionPoints(app, page),
    ...inOrders(['name', '-name'], 2, (range) => ask.extensionPoints(app, range, 'a')),
  ],
  countExtensionPointsFound: (ask) => [ask.countExtensionPointsFound(app, 'a')],
  guest: (ask) => [ask.guest(guest)],
  guestKeys: (ask) => [ask.guestKeys([guest])],
  guestByKey: (ask) => [ask.guestByKey(app, 'key')],
  guests: (ask) => [
    ask.guests(app, {}),
    ask.guests(app, page),
    ...inOrders(['guestKey', '-guestKey'], 2, (range) => ask.guests(app, range)),
    ...everyGuestSearch.map((search) => ask.guests(app, { limit: 9, sort: 'guestKey' }, search)),
  ],
  countGuestsFound: (ask) => everyGuestSearch.map((search) => ask.countGuestsFound(app, search)),
  latestInvitations: (ask) => [ask.latestInvitations([guest]), ask.latestInvitations([guest, newId('guest')])],
  guestsHeldBy: (ask) => [ask.guestsHeldBy(user, app)],
  guestsHeldIn: (ask) => [ask.guestsHeldIn(user, [app, app]), ask.guestsHeldIn(user, [app, app], 10)],
  usersOfGuests: (ask) => [ask.usersOfGuests([guest, guest]), ask.usersOfGuests([guest, guest], 10)],
  invitation: (ask) => [ask.invitation(newId('invitation'))],
  invitationByCodeHash: (ask) => [ask.invitationByCodeHash(someHash())],
  invitations: (ask) => [
    ask.invitations(app, {}),
    ask.invitations(app, page),
    ...inOrders(['createdAt', '-createdAt'], 1, (range) => ask.invitations(app, range, { guestId: guest, nowMs: 1 })),
    ask.invitations(app, page, { ids: [newId('invitation')], nowMs: 1 }),
    ask.invitations(app, page, { status: 'pending', createdBeforeMs: 1, text: 'a', nowMs: 2 }),
  ],
  countInvitationsFound: (ask) => [ask.countInvitationsFound(app, { status: 'expired', nowMs: 1 })],
  latestInvitationOf: (ask) => [
    ask.latestInvitationOf(guest, { email: 'a', name: null }),
    ask.latestInvitationOf(guest, { email: null, name: 'a' }),
    ask.latestInvitationOf(guest, { email: null, name: null }),
  ],
  teamInvitations: (ask) => [
    ask.teamInvitations(app, {}),
    ask.teamInvitations(app, page),
    ...inOrders(['-createdAt'], 1, (range) => ask.teamInvitations(app, range, false)),
  ],
  pendingInvitationsBy: (ask) => [ask.pendingInvitationsBy(user, app)],
  pluginAbout: (ask) => [ask.pluginAbout(key)],
  plugin: (ask) => [ask.plugin(key)],
  plugins: (ask) => [
    ask.plugins(point, {}),
    ...inOrders(['name', '-name'], 4, (range) => ask.plugins(point, range)),
    ...inOrders(['publishedAt', '-publishedAt'], 1, (range) => ask.plugins(point, range)),
    ...everyPluginSearch.map((search) => ask.plugins(point, { limit: 9 }, search)),
  ],
  countOwnPlugins: (ask) => [ask.countOwnPlugins(app, user)],
  pluginsOfApp: (ask) => [
    ...inOrders(['name', '-name'], 4, (range) => ask.pluginsOfApp(app, range)),
    ...inOrders(['publishedAt', '-publishedAt'], 1, (range) => ask.pluginsOfApp(app, range)),
    ...everyPluginSearch.map((search) => ask.pluginsOfApp(app, { limit: 9 }, search)),
  ],
  countPluginsFound: (ask) =>
    everyPluginSearch.flatMap((search) => [
      ask.countPluginsFound({ extensionPointId: point }, search),
      ask.countPluginsFound({ appId: app }, search),
    ]),
  versions: (ask) => [ask.versions(key, {}), ask.versions(key, { after: '7', limit: 10 })],
  version: (ask) => [ask.version(key, 1)],
  versionsWithContent: (ask) => [ask.versionsWithContent(key, addressOf('a'), 9)],
  newestPublished: (ask) => [ask.newestPublished(key), ask.newestPublished(key, '1.0.0')],
  versionNamesOf: (ask) => [ask.versionNamesOf(key)],
  versionNumbers: (ask) => [ask.versionNumbers([version.id, version.id])],
  versionOfContent: (ask) => [ask.versionOfContent(key, addressOf('a'))],
  withdrawalsOf: (ask) => [ask.withdrawalsOf(point, user, addressOf('a'))],
  publishedCopies: (ask) => [ask.publishedCopies(key), ask.publishedCopies(key, addressOf('a'))],
  publisherBlock: (ask) => [ask.publisherBlock(app, user)],
  blockedPublishers: (ask) => [ask.blockedPublishers(app, {}), ask.blockedPublishers(app, page)],
  isPublisher: (ask) => [ask.isPublisher(app, user)],
  pluginsOfPublisher: (ask) => [
    ask.pluginsOfPublisher(app, user),
    ask.pluginsOfPublisher(app, user, { isPending: true }),
  ],
  pluginsOfOthers: (ask) => [ask.pluginsOfOthers(point, user)],
  similarPlugins: (ask) => [ask.similarPlugins([key]), ask.similarPlugins([key, key])],
  dueVersions: (ask) => [ask.dueVersions(1, { after: '', limit: 10 })],
  publishedVersions: (ask) => everySelection.map((selection) => ask.publishedVersions(selection, page)),
  openVersions: (ask) => everySelection.map((selection) => ask.openVersions(selection, 10)),
  openCopies: (ask) => [ask.openCopies([ofMassYank, ofMassYank], 10)],
  hasPublished: (ask) => [ask.hasPublished(app, newId('token'))],
  tokensOfTrustRule: (ask) => [ask.tokensOfTrustRule(newId('trustRule'))],
  withdrawal: (ask) => [ask.withdrawal(point, { userId: user, contentAddress: addressOf('a') })],
  withdrawals: (ask) => [
    ask.withdrawals(point, {}),
    ask.withdrawals(point, { after: JSON.stringify([user, addressOf('a')]), limit: 9 }),
  ],
  nameReservations: (ask) => [ask.nameReservations(key, [guest], 1)],
  semverUse: (ask) => [ask.semverUse(key, '1.0.0')],
  guestsOfVersions: (ask) => [
    ask.guestsOfVersions([version.id, version.id]),
    ask.guestsOfVersions([version.id, version.id], { limit: 10, isDescending: true }),
  ],
  guestsBoundTo: (ask) => [
    ask.guestsBoundTo([version.id, version.id]),
    ask.guestsBoundTo([version.id, version.id], { limit: 10, isDescending: true }),
  ],
  newestBoundVersion: (ask) => [ask.newestBoundVersion(key, version.id)],
  isPinned: (ask) => [ask.isPinned(key)],
  boundVersions: (ask) => [ask.boundVersions(point, {}), ask.boundVersions(point, page)],
  versionsAwaitingApproval: (ask) => [
    ask.versionsAwaitingApproval(app, {}),
    ask.versionsAwaitingApproval(app, page),
    ask.versionsAwaitingApproval(app, { before: version.id, limit: 10 }, 'a'),
  ],
  countVersionsAwaitingApproval: (ask) => [ask.countVersionsAwaitingApproval(app, 'a')],
  bindingsOfGuest: (ask) => [
    ask.bindingsOfGuest(guest, {}),
    ask.bindingsOfGuest(guest, { after: JSON.stringify([point, 'plugin', 'plugin']), limit: 10 }, 'a'),
  ],
  countBindingsOfGuest: (ask) => [ask.countBindingsOfGuest(guest, 'a')],
  guestsBoundToPlugin: (ask) => [ask.guestsBoundToPlugin(key, guest, 10)],
  bindingsOfPlugin: (ask) => [
    ask.bindingsOfPlugin(key, {}),
    ask.bindingsOfPlugin(key, { after: guest, limit: 10 }),
    ...inOrders(['guestKey', '-guestKey'], 2, (range) => ask.bindingsOfPlugin(key, range, 'a')),
  ],
  countBindingsOfPlugin: (ask) => [ask.countBindingsOfPlugin(key, 'a')],
  bindingFacts: (ask) => [
    ask.bindingFacts(key),
    ask.bindingFacts(key, { after: guest, limit: 10 }),
    ask.bindingFacts(key, { guestIds: [guest] }),
  ],
  bindingFactsOfPlugins: (ask) => [ask.bindingFactsOfPlugins([key, { ...key, name: 'b' }], 10)],
  guestsWithNameTaken: (ask) => [ask.guestsWithNameTaken(key, [guest])],
  guestsAtPluginLimit: (ask) => [ask.guestsAtPluginLimit(key, [guest], 10)],
  isRolledBack: (ask) => [ask.isRolledBack(key, [guest], 1)],
  guestsOfVersion: (ask) => [ask.guestsOfVersion(version.id, [guest])],
  bindingGuestsOfVersion: (ask) => [ask.bindingGuestsOfVersion(version, 10)],
  pendingRebind: (ask) => [ask.pendingRebind(key)],
  pendingPlugins: (ask) => [ask.pendingPlugins(10)],
  pendingDeletions: (ask) => [ask.pendingDeletions(10)],
  hasMoreRows: (ask) => everyOwner.map((owner) => ask.hasMoreRows(owner, 10)),
  bindingsOfPlugins: (ask) => [
    ask.bindingsOfPlugins([key]),
    ask.bindingsOfPlugins([key, key, key]),
    ask.bindingsOfPlugins([key], 10),
  ],
  bindings: (ask) => [ask.bindings(point, 'key')],
  bindingsToAttest: (ask) => [
    ask.bindingsToAttest(point, [guest], undefined, 10),
    ask.bindingsToAttest(point, [guest], { guestKey: 'key', name: 'plugin' }, 10),
  ],
  guestsToAttest: (ask) => [ask.guestsToAttest(app, undefined, 10), ask.guestsToAttest(app, 'key', 10)],
  binding: (ask) => [ask.binding(point, guest, 'plugin')],
  countOwnedApps: (ask) => [ask.countOwnedApps(user)],
  countTokens: (ask) => [ask.countTokens(user, 1)],
  countApiKeys: (ask) => [ask.countApiKeys(user, 1)],
  countGuests: (ask) => [ask.countGuests(app, 1)],
  countExtensionPoints: (ask) => [ask.countExtensionPoints(app)],
  sumPublishedBytes: (ask) => [ask.sumPublishedBytes(user)],
  accountChargedUntilMs: (ask) => [ask.accountChargedUntilMs(user)],
  accountMailsChargedUntilMs: (ask) => [ask.accountMailsChargedUntilMs(user)],
  userSimulationsChargedUntilMs: (ask) => [ask.userSimulationsChargedUntilMs(user)],
  appSimulationsChargedUntilMs: (ask) => [ask.appSimulationsChargedUntilMs(app)],
  countSimulations: (ask) => [ask.countSimulations(point)],
  quotaOverrides: (ask) => [ask.quotaOverrides([user]), ask.quotaOverrides([user, app])],
  listedQuotaOverrides: (ask) => [
    ask.listedQuotaOverrides({ limit: 9 }),
    ask.listedQuotaOverrides({ after: JSON.stringify([app, 'plugins']), limit: 9 }),
  ],
  quotaWarning: (ask) => [ask.quotaWarning(app, 'plugins')],
  expiringCredentials: (ask) => [ask.expiringCredentials(1, 9)],
  pluginChargedUntilMs: (ask) => [ask.pluginChargedUntilMs(key)],
  countPlugins: (ask) => [ask.countPlugins(app)],
  countBindings: (ask) => [ask.countBindings(point, guest)],
  mayReadContent: (ask) => [undefined, app].map((within) => ask.mayReadContent(user, addressOf('a'), within)),
  rollOut: (ask) => [ask.rollOut(version.id)],
  rollOutsOfVersions: (ask) => [ask.rollOutsOfVersions([version.id, newId('version')])],
  openRollOuts: (ask) => [ask.openRollOuts([key]), ask.openRollOuts([key, { ...key, name: 'b' }])],
  openRollOutsOfGuest: (ask) => [ask.openRollOutsOfGuest(app, guest)],
  rollOutsOfApp: (ask) =>
    ([undefined, 'open', 'running'] as const).flatMap((state) => [
      ask.rollOutsOfApp(app, state, {}),
      ask.rollOutsOfApp(app, state, { after: version.id, limit: 9 }),
    ]),
  dueRollOuts: (ask) => [ask.dueRollOuts(1, { after: { dueAtMs: 0, versionId: version.id }, limit: 9 })],
  versionBefore: (ask) => [ask.versionBefore(key, 2)],
  hadVersionBefore: (ask) => [ask.hadVersionBefore(version)],
  isSuperseded: (ask) => [ask.isSuperseded(version)],
  countGuestsOfVersion: (ask) => [ask.countGuestsOfVersion(version.id)],
  webhook: (ask) => [ask.webhook(webhookId)],
  webhooksOfApp: (ask) => [ask.webhooksOfApp(app, {}), ask.webhooksOfApp(app, page)],
  countWebhooks: (ask) => [ask.countWebhooks(app)],
  isAnyWebhookEnabled: (ask) => [ask.isAnyWebhookEnabled()],
  enabledWebhooks: (ask) => [ask.enabledWebhooks([app]), ask.enabledWebhooks([app, newId('app')])],
  webhookIds: (ask) => [ask.webhookIds('', 9), ask.webhookIds(webhookId, 9)],
  webhookSecrets: (ask) => [ask.webhookSecrets([webhookId]), ask.webhookSecrets([webhookId, newId('webhook')])],
  webhookDelivery: (ask) => [ask.webhookDelivery(deliveryId)],
  webhookDeliveries: (ask) =>
    ([undefined, 'failed'] as const).flatMap((state) => [
      ask.webhookDeliveries(webhookId, state, { limit: 9 }),
      ask.webhookDeliveries(webhookId, state, { after: deliveryId, limit: 9 }),
    ]),
  webhookQueue: (ask) => [ask.webhookQueue()],
  webhookBacklog: (ask) => [ask.webhookBacklog()],
  isAnyWebhookDeliveryDue: (ask) => [ask.isAnyWebhookDeliveryDue(1)],
  dueWebhooks: (ask) => [
    ask.dueWebhooks(1, { after: '', limit: 9 }),
    ask.dueWebhooks(1, { after: webhookId, limit: 9 }),
  ],
  versionsOfContents: (ask) => [ask.versionsOfContents(app, point, [addressOf('a'), addressOf('b')])],
  rollOutsToReport: (ask) => [ask.rollOutsToReport(point, ['plugin', 'other'])],
  stepReports: (ask) => [ask.stepReports(version.id, 1)],
  previousReports: (ask) => [ask.previousReports(version.id, 1)],
  reportSlots: (ask) => [ask.reportSlots(version.id, 'previous')],
  reportedCalls: (ask) => [ask.reportedCalls(version.id, 1)],
  webhookEvents: (ask) => [ask.webhookEvents([newId('auditEvent')])],
  trustRule: (ask) => [ask.trustRule(trustRuleId)],
  trustRulesOf: (ask) => [ask.trustRulesOf(user, page), ask.trustRulesOf(user, { before: trustRuleId, limit: 10 })],
  trustRulesOfApp: (ask) => [ask.trustRulesOfApp(app, page)],
  trustRulesOfIssuer: (ask) => [ask.trustRulesOfIssuer('https://ci.example.org', { limit: 10 })],
  countTrustRules: (ask) => [ask.countTrustRules(user)],
  countTokensOfTrustRule: (ask) => [ask.countTokensOfTrustRule(trustRuleId, 1, 10)],
  tokenByHash: (ask) => [ask.tokenByHash(someHash())],
  token: (ask) => [ask.token(newId('token'))],
  tokens: (ask) => [undefined, app].flatMap((within) => [ask.tokens(user, within, {}), ask.tokens(user, within, page)]),
  usedNetworks: (ask) => [ask.usedNetworks(newId('token')), ask.usedNetworks(newId('apiKey'))],
  apiKeyByHash: (ask) => [ask.apiKeyByHash(someHash())],
  apiKey: (ask) => [ask.apiKey(newId('apiKey'))],
  apiKeys: (ask) => [ask.apiKeys(user, {}), ask.apiKeys(user, page)],
  blob: (ask) => [ask.blob(addressOf('a'))],
  blobs: (ask) => [ask.blobs({ limit: 9 }), ask.blobs({ after: addressOf('a'), limit: 9 })],
  knownBlobs: (ask) => [
    ask.knownBlobs([{ address: addressOf('a'), generation: 'first' }]),
    ask.knownBlobs(['a', 'b'].map((name) => ({ address: addressOf(name), generation: 'first' }))),
  ],
  blobDeletions: (ask) => [ask.blobDeletions(9)],
  countDueBlobs: (ask) => [ask.countDueBlobs({ unusedSinceMs: 1, nowMs: 1 })],
  referencedContents: (ask) => [
    ask.referencedContents({ limit: 9 }),
    ask.referencedContents({ after: addressOf('a'), limit: 9 }),
  ],
  isContentReferenced: (ask) => [ask.isContentReferenced(addressOf('a'))],
  leaseHolders: (ask) => [ask.leaseHolders('copy', 1)],
  isUnfinishedCopy: (ask) => [ask.isUnfinishedCopy()],
  auditOfApp: (ask) => everyAuditFilter.map((filter) => ask.auditOfApp(app, filter, { limit: 9 })),
  newestActions: (ask) => [ask.newestActions(app, 9)],
  auditOfAccount: (ask) => everyAuditFilter.map((filter) => ask.auditOfAccount(user, filter, { limit: 9 })),
  auditOfAll: (ask) => everyAuditFilter.map((filter) => ask.auditOfAll(filter, { limit: 9 })),
  auditPosition: (ask) => [ask.auditPosition('head')],
  isAnyAuditEventUnsealed: (ask) => [ask.isAnyAuditEventUnsealed()],
  auditLinks: (ask) => [ask.auditLinks(1, 9)],
  strayAuditEvents: (ask) => [ask.strayAuditEvents(9)],
  changeHeads: (ask) => [ask.changeHeads([app]), ask.changeHeads([app, newId('app')])],
  changes: (ask) => [ask.changes(app, 7, 9)],
  boundLists: (ask) => everyBindingFilter.map((of) => ask.boundLists(of)),
  isOperator: (ask) => [ask.isOperator(user)],
  hasOtherOperator: (ask) => [ask.hasOtherOperator(user)],
  countPluginsOf: (ask) => [ask.countPluginsOf(user)],
  operators: (ask) => [ask.operators()],
  nodes: (ask) => [ask.nodes()],
  maintenanceRuns: (ask) => [ask.maintenanceRuns()],
  packages: (ask) => [ask.packages()],
  packageByFile: (ask) => [ask.packageByFile('a-1.0.0.tgz')],
  packagePart: (ask) => [ask.packagePart('a-1.0.0.tgz', 1)],
  usageSubjects: (ask) => [ask.usageSubjects([app, guest])],
  usageDays: (ask) => [ask.usageDays(app, usagePeriod)],
  usageCounts: (ask) => [ask.usageCounts([app, guest], usagePeriod)],
  versionUsage: (ask) => [ask.versionUsage(key, usagePeriod, 9)],
  versionsById: (ask) => [ask.versionsById([version.id, newId('version')])],
  listedBindings: (ask) => [ask.listedBindings(app, point, ['a', 'b'])],
  versionsOfContent: (ask) => [ask.versionsOfContent(addressOf('a'))],
  appsOfMembers: (ask) => [ask.appsOfMembers([user, newId('user')])],
  isAnyMailDue: (ask) => [ask.isAnyMailDue(1)],
  mailedCode: (ask) => [ask.mailedCode(someHash())],
  passkey: (ask) => [ask.passkey(newId('passkey'))],
  passkeyByCredential: (ask) => [ask.passkeyByCredential('a')],
  passkeysOf: (ask) => [ask.passkeysOf(user)],
  countRecoveryCodes: (ask) => [ask.countRecoveryCodes(user)],
  recoveryCode: (ask) => [ask.recoveryCode(someHash())],
  pendingSignIn: (ask) => [ask.pendingSignIn(someHash())],
  passkeyChallenge: (ask) => [ask.passkeyChallenge('a')],
  hasManyChallenges: (ask) => [ask.hasManyChallenges(null, 9, 1), ask.hasManyChallenges(user, 9, 1)],
  passkeyOfToken: (ask) => [ask.passkeyOfToken(newId('token'))],
  identityBySubject: (ask) => [ask.identityBySubject('https://id.example', 'a')],
  identities: (ask) => [ask.identities(user)],
  sessionIdentity: (ask) => [ask.sessionIdentity(session)],
  sessionsOfIdentity: (ask) => [ask.sessionsOfIdentity(newId('identity'))],
  sessionsBySid: (ask) => [ask.sessionsBySid('https://id.example', 'a')],
  hasManyProviderSignIns: (ask) => [ask.hasManyProviderSignIns(9, 1)],
  providerSignIn: (ask) => [ask.providerSignIn(someHash())],
  isUsedLogoutToken: (ask) => [ask.isUsedLogoutToken(someHash())],
  grantedMemberships: (ask) => [ask.grantedMemberships(user, 'a')],
  isGrantedOperator: (ask) => [ask.isGrantedOperator(user, 'a')],
  mailPreferences: (ask) => [ask.mailPreferences(user)],
  newestMail: (ask) => [ask.newestMail(user, 'approvals'), ask.newestMail(user, 'approvals', app)],
  mailQueue: (ask) => [ask.mailQueue()],
  simulations: (ask) => [ask.simulations(point)],
  simulation: (ask) => [ask.simulation(point, 'basics')],
  hasSimulations: (ask) => [ask.hasSimulations(point)],
  simulationRuns: (ask) => [ask.simulationRuns(newId('version'))],
  doneSimulationRuns: (ask) => [ask.doneSimulationRuns([newId('version'), newId('version')])],
  simulationRun: (ask) => [ask.simulationRun(newId('simulationRun'))],
  openSimulationRun: (ask) => [ask.openSimulationRun(newId('version'))],
  dueSimulationRun: (ask) => [ask.dueSimulationRun(1), ask.dueSimulationRun(1, [user])],
  simulationQueue: (ask) => [ask.simulationQueue()],
  interfaceOf: (ask) => [ask.interfaceOf(newId('version'))],
  versionById: (ask) => [ask.versionById(newId('version'))],
  signingKeys: (ask) => [ask.signingKeys()],
  signingKey: (ask) => [ask.signingKey('a')],
  usableSigningKeys: (ask) => [ask.usableSigningKeys()],
  attestations: (ask) => [ask.attestations(newId('version'))],
  attestationsOfVersions: (ask) => [ask.attestationsOfVersions([newId('version'), newId('version')])],
  attestationBundle: (ask) => [ask.attestationBundle(newId('attestation'))],
  attestationsWithBundles: (ask) => [
    ask.attestationsWithBundles(newId('version')),
    ask.attestationsWithBundles(newId('version'), 'sbom'),
  ],
  publishAttestations: (ask) => [ask.publishAttestations(page)],
  ociUpload: (ask) => [ask.ociUpload(ociUploadId)],
  finishedOciUpload: (ask) => [ask.finishedOciUpload(key, addressOf('a'), 1)],
  countOciUploads: (ask) => [ask.countOciUploads(user, 1)],
  ociChunks: (ask) => [ask.ociChunks(ociUploadId)],
  ociImages: (ask) => [ask.ociImages([version.id, newId('version')])],
  mailsOfInvitations: (ask) => [ask.mailsOfInvitations([newId('invitation'), newId('invitation')])],
  mirror: (ask) => [ask.mirror()],
  mirroredApps: (ask) => [ask.mirroredApps()],
  hasOwnApp: (ask) => [ask.hasOwnApp()],
  mirroredExtensionPoints: (ask) => [ask.mirroredExtensionPoints(app)],
  mirroredGuests: (ask) => [ask.mirroredGuests(app, { after: guest, limit: 9 })],
  mirroredPlugins: (ask) => [
    ask.mirroredPlugins(point, { after: undefined, limit: 9 }),
    ask.mirroredPlugins(point, { after: key, limit: 9 }),
  ],
  heldVersions: (ask) => [ask.heldVersions(key)],
  countMirroredLists: (ask) => [ask.countMirroredLists(app)],
  unlistedVersions: (ask) => [ask.unlistedVersions(point, 1, 9)],
};

/** A call of every change that looks for rows; plain insertions don't. */
const everyChange: { [M in Exclude<keyof Mutations, `insert${string}`>]: (tx: Transaction) => Promise<unknown> } & {
  insertVersion(tx: Transaction): Promise<unknown>;
} = {
  putMirror: (tx) =>
    tx.putMirror({
      ...{ source: 'a', state: 'following', detail: null, equalAtMs: 1, completedAtMs: 1 },
      ...{ lists: 1, missingLists: 0, missingContents: 0 },
    }),
  putMirrorPosition: (tx) => tx.putMirrorPosition(app, '1-a'),
  putMirrorHosts: (tx) => tx.putMirrorHosts(mirrorHosts),
  putMirroredApp: (tx) => tx.putMirroredApp(mirroredApp, mirrorHosts),
  putMirroredExtensionPoint: (tx) =>
    tx.putMirroredExtensionPoint({
      ...{ id: point, appId: app, name: 'a', schemaJson: '{}', requiresApproval: false, limits: noLimits },
      ...{
        provenance: noProvenancePolicy,
        simulationsRevision: 0,
        minVersionAgeSeconds: 0,
        rollOut: null,
        imports: {},
      },
      ...{ createdAtMs: 1, updatedAtMs: 1 },
    }),
  markMirroredExtensionPointDeleted: (tx) => tx.markMirroredExtensionPointDeleted(point, 1),
  putMirroredVersion: (tx) =>
    tx.putMirroredVersion({
      version,
      plugin: { userName: 'a', description: null, homepage: null, createdAtMs: 1 },
    }),
  putMirroredAttestations: (tx) => tx.putMirroredAttestations(key, version.id, []),
  updateMirroredVersion: (tx) => tx.updateMirroredVersion(version),
  putMirroredList: (tx) =>
    tx.putMirroredList(
      { extensionPointId: point, guestKey: 'a' },
      { id: guest, appId: app, label: null, note: null, ring: null, createdAtMs: 1 },
      [{ name: 'a', userId: user, versionId: version.id, updatedAtMs: 1 }],
      { keepUntilMs: 1, isRemoval: false },
    ),
  deleteUnlistedVersions: (tx) => tx.deleteUnlistedVersions([version.id], 1),
  putMirroredKeys: (tx) =>
    tx.putMirroredKeys([{ id: 'a', publicKeyPem: 'a', validFromMs: 1, validUntilMs: null }], ['b'], 1),
  endSigningKey: (tx) => tx.endSigningKey('a', 1),
  startSigningKey: (tx) => tx.startSigningKey('a', 1),
  revokeSigningKey: (tx) => tx.revokeSigningKey('a', 1),
  setProvenance: (tx) => tx.setProvenance(version, 'verified', 1),
  updateAttestation: (tx) =>
    tx.updateAttestation({ id: newId('attestation'), state: 'verified', detail: null, signer: null }),
  claimSimulationRun: (tx) => tx.claimSimulationRun(newId('simulationRun'), { nowMs: 1, untilMs: 2 }),
  renewSimulationRun: (tx) => tx.renewSimulationRun(simulationRunRecord(), 1),
  updateSimulationRun: (tx) => tx.updateSimulationRun(newId('simulationRun'), { state: 'queued', dueAtMs: 1 }),
  deleteSimulationRun: (tx) => tx.deleteSimulationRun(newId('simulationRun')),
  pruneSimulationRuns: (tx) => tx.pruneSimulationRuns(version, 9),
  putVerdict: (tx) => tx.putVerdict(newId('version'), 'passed'),
  putSimulation: (tx) => tx.putSimulation(simulationRecord(point)),
  deleteSimulation: (tx) => tx.deleteSimulation({ extensionPointId: point, name: 'basics', revision: 2 }),
  setRequiresPasskey: (tx) => tx.setRequiresPasskey(app, true),
  renamePasskey: (tx) => tx.renamePasskey(newId('passkey'), 'a'),
  usePasskey: (tx) => tx.usePasskey(newId('passkey'), { counter: 1, lastUsedAtMs: 1 }),
  deletePasskey: async (tx) => {
    await tx.deletePasskey({ id: newId('passkey'), userId: user });
    await tx.deletePasskey({ id: newId('passkey'), userId: user }, session);
  },
  deletePasskeysOf: (tx) => tx.deletePasskeysOf(user),
  putRecoveryCodes: (tx) => tx.putRecoveryCodes(user, []),
  deleteRecoveryCode: (tx) => tx.deleteRecoveryCode(someHash()),
  countAttempt: (tx) => tx.countAttempt(someHash()),
  deletePendingSignIn: (tx) => tx.deletePendingSignIn(someHash()),
  deletePendingSignInsOf: (tx) => tx.deletePendingSignInsOf(user),
  deletePasskeyChallenge: (tx) => tx.deletePasskeyChallenge('a'),
  deleteExpiredChallenges: (tx) => tx.deleteExpiredChallenges(1),
  updateIdentity: (tx) => tx.updateIdentity(newId('identity'), { email: null, lastUsedAtMs: 1 }),
  deleteIdentity: (tx) => tx.deleteIdentity(newId('identity')),
  useProviderSignIn: (tx) => tx.useProviderSignIn(someHash(), 1),
  putGrantedMembership: async (tx) => {
    const granted = { userId: user, providerId: 'a', appId: app, role: 'viewer' } as const;
    await tx.putGrantedMembership(granted).catch(() => {}); // neither the user nor the application exists
  },
  deleteGrantedMembership: (tx) => tx.deleteGrantedMembership({ userId: user, providerId: 'a', appId: app }),
  putGrantedOperator: (tx) => tx.putGrantedOperator(user, 'a').catch(() => {}),
  deleteGrantedOperator: (tx) => tx.deleteGrantedOperator(user, 'a'),
  deleteEmailChangesOf: (tx) => tx.deleteEmailChangesOf(user),
  putMailPreferences: (tx) => tx.putMailPreferences({ userId: user, verifiedEmail: null, muted: [] }),
  claimMail: (tx) => tx.claimMail({ nowMs: 1, untilMs: 2 }),
  postponeMail: (tx) => tx.postponeMail(newId('mail'), 2, 'busy'),
  settleMail: (tx) => tx.settleMail(newId('mail'), { state: 'sent', dueAtMs: 2, error: null }),
  deleteMail: (tx) => tx.deleteMail(newId('mail')),
  renameUser: (tx) => tx.renameUser(user, 'a'),
  eraseUser: (tx) => tx.eraseUser(user, { name: 'a', deletedAtMs: 1 }),
  setSuspended: (tx) => tx.setSuspended(user, 1),
  setEmail: (tx) => tx.setEmail(user, 'ada@example.org'),
  putPassword: (tx) => tx.putPassword({ userId: user, hash: 'a', updatedAtMs: 1 }),
  confirmSession: (tx) => tx.confirmSession(session, 1),
  deleteSession: (tx) => tx.deleteSession(session),
  deleteSessionsOf: async (tx) => {
    await tx.deleteSessionsOf(user);
    await tx.deleteSessionsOf(user, session);
  },
  deleteKnownBrowsersOf: (tx) => tx.deleteKnownBrowsersOf(user),
  trimKnownBrowsers: (tx) => tx.trimKnownBrowsers(user, 3),
  useOneTimeLink: (tx) => tx.useOneTimeLink(newId('oneTimeLink'), 1),
  expireLinksOf: (tx) => tx.expireLinksOf(user, 1),
  setInvitationSignUp: (tx) => tx.setInvitationSignUp(newId('invitation'), user),
  useAuthorizationCode: (tx) => tx.useAuthorizationCode(someHash(), { tokenId: newId('token'), usedAtMs: 1 }),
  decideDeviceGrant: async (tx) => {
    await tx.decideDeviceGrant(newId('deviceGrant'), { status: 'denied' });
    await tx.decideDeviceGrant(newId('deviceGrant'), {
      status: 'approved',
      userId: user,
      sessionId: session,
      scopes: ['read'],
    });
  },
  deleteDeviceGrant: (tx) => tx.deleteDeviceGrant(newId('deviceGrant')),
  deletePendingLoginsOf: (tx) => tx.deletePendingLoginsOf(user),
  deleteExpired: (tx) => tx.deleteExpired(1),
  updateApp: (tx) => tx.updateApp(app, { name: 'a', updatedAtMs: 1 }),
  deleteApp: (tx) => tx.deleteApp(app),
  putMember: (tx) => tx.putMember({ appId: app, userId: user, role: 'viewer', createdAtMs: 1 }),
  deleteMember: (tx) => tx.deleteMember(app, user),
  updateExtensionPoint: (tx) =>
    tx.updateExtensionPoint(point, {
      name: 'a',
      schemaJson: '{}',
      requiresApproval: true,
      limits: noLimits,
      minVersionAgeSeconds: 1,
      rollOut: null,
      imports: {},
      provenance: noProvenancePolicy,
      updatedAtMs: 1,
    }),
  noteDeletedBindings: async (tx) => {
    for (const scope of [{ extensionPointId: point }, { appId: app }, { userId: user }]) {
      await tx.noteDeletedBindings(scope, 1);
    }
  },
  deleteExtensionPoint: (tx) => tx.deleteExtensionPoint(point),
  updateGuest: (tx) => tx.updateGuest(guest, { label: 'a', note: null }),
  renewInvitation: (tx) =>
    tx.renewInvitation(newId('invitation'), { codeHash: someHash(), expiresAtMs: 1, createdBy: user }),
  deleteGuest: (tx) => tx.deleteGuest(guest),
  putGuestUser: (tx) => tx.putGuestUser({ guestId: guest, userId: user, acceptedAtMs: 1 }),
  deleteGuestUser: (tx) => tx.deleteGuestUser([guest], user),
  closeInvitation: (tx) => tx.closeInvitation(newId('invitation'), 'accepted', 1),
  revokeInvitations: (tx) => tx.revokeInvitations([newId('invitation')], 1),
  insertVersion: (tx) => tx.insertVersion({ ...version, number: 2 }, '{}'),
  putInterface: (tx) => tx.putInterface(version.id, '{}'),
  decideVersions: (tx) => tx.decideVersions([version.id], version),
  putVersionGuests: (tx) => tx.putVersionGuests(version.id, [guest]),
  setPluginAbout: (tx) => tx.setPluginAbout(key, { description: 'a', homepage: null, readme: null }),
  blockPlugin: (tx) => tx.blockPlugin(key, { atMs: 1, reason: 'a' }),
  retirePlugin: (tx) =>
    tx.retirePlugin(
      {
        ...key,
        createdAtMs: 1,
        newest: version,
        block: { atMs: 1, reason: 'a' },
        publisherBlock: null,
        description: null,
        homepage: null,
      },
      { atMs: 1, untilMs: 2 },
    ),
  putPublisherBlock: (tx) => tx.putPublisherBlock({ appId: app, userId: user, block: { atMs: 1, reason: 'a' } }),
  deletePublisherBlock: (tx) => tx.deletePublisherBlock(app, user),
  putSimilarNames: (tx) => tx.putSimilarNames(key, [{ userId: user, name: 'a' }]),
  deleteWithdrawal: (tx) =>
    tx.deleteWithdrawal({ extensionPointId: point, userId: user, contentAddress: addressOf('a') }),
  reserveName: (tx) => tx.reserveName(key, [guest], 1),
  deletePlugin: (tx) => tx.deletePlugin(key),
  markPluginDeleted: (tx) => tx.markPluginDeleted(key, 1),
  markPluginsDeleted: (tx) => tx.markPluginsDeleted(user, 1),
  markExtensionPointDeleted: (tx) => tx.markExtensionPointDeleted(point, 1),
  markAppDeleted: (tx) => tx.markAppDeleted(app, 1),
  resetChanges: (tx) => tx.resetChanges(app, [], { mark: 'm' }),
  purgeRows: async (tx) => {
    for (const scope of everyScope) await tx.purgeRows(scope, 10);
  },
  purgeDeleted: async (tx) => {
    for (const scope of everyScope) await tx.purgeDeleted(scope);
  },
  putPendingRebind: (tx) => tx.putPendingRebind(key, { after: '', selection: null }),
  endPendingRebind: (tx) => tx.endPendingRebind(key),
  putBindingKeys: (tx) => tx.putBindingKeys(key, [guest]),
  moveBindings: (tx) =>
    tx.moveBindings(key, [{ id: guest, guestKey: 'k' }], { versionId: null, nowMs: 1, notifiesEachList: true }),
  moveBindingsOfPlugins: (tx) =>
    tx
      .moveBindingsOfPlugins([{ key, guestId: guest, guestKey: 'k', versionId: null }], 1)
      .catch((error: unknown) => assert.match(String(error), /Moved 0 of 1/)),
  putAccountCharge: (tx) => tx.putAccountCharge(user, 1),
  putAccountMailsCharge: (tx) => tx.putAccountMailsCharge(user, 1),
  putPluginCharge: (tx) => tx.putPluginCharge(key, 1),
  pinVersion: async (tx) => {
    await tx.pinVersion(claim, null);
    await tx.pinVersion(claim, version.id);
  },
  selectVersion: async (tx) => {
    await tx.selectVersion(key, [guest], null);
    await tx.selectVersion(key, [guest], version.id);
  },
  putSimulationsCharge: (tx) => tx.putSimulationsCharge({ userId: user, appId: app }, { ofUser: 1, ofApp: 1 }),
  putQuotaOverride: async (tx) => {
    await tx.putQuotaOverride(override);
    await tx.putQuotaOverride(override);
  },
  deleteQuotaOverride: (tx) => tx.deleteQuotaOverride(user, 'tokens'),
  putQuotaWarning: async (tx) => {
    const { value: _, updatedAtMs, ...rest } = override;
    for (const percent of [80, 95]) await tx.putQuotaWarning({ ...rest, percent, warnedAtMs: updatedAtMs });
  },
  markExpiryWarned: (tx) => tx.markExpiryWarned([newId('token'), newId('apiKey')], 1),
  deleteToken: (tx) => tx.deleteToken(newId('token')),
  deleteTokensAndKeysOf: async (tx) => {
    await tx.deleteTokensAndKeysOf(user);
    await tx.deleteTokensAndKeysOf(user, newId('token'));
  },
  putUsedNetworks: async (tx) => {
    await tx.putUsedNetworks(newId('token'), ['192.0.2.0/24']);
    await tx.putUsedNetworks(newId('apiKey'), []);
  },
  updateLastSeen: (tx) => tx.updateLastSeen(new Map([[user, 1]])),
  deleteApiKey: (tx) => tx.deleteApiKey(newId('apiKey')),
  leaseBlob: async (tx) => {
    const blob = { address: addressOf('a'), size: 8, generation: 'first', leaseUntilMs: 1 };
    await tx.leaseBlob(blob);
    await tx.leaseBlob(blob);
  },
  markPresent: (tx) => tx.markPresent(addressOf('a'), 'first'),
  markUnused: (tx) => tx.markUnused([addressOf('a'), addressOf('b')], 1),
  markForDeletion: (tx) => tx.markForDeletion({ unusedSinceMs: 1, nowMs: 1, limit: 9 }),
  putBlobDeletion: (tx) => tx.putBlobDeletion({ address: addressOf('b'), generation: 'first', size: 8 }),
  deleteBlobDeletions: (tx) => tx.deleteBlobDeletions([{ address: addressOf('b'), generation: 'first' }]),
  putLease: (tx) => tx.putLease({ kind: 'collect', holder: 'a', untilMs: 1 }),
  deleteLease: (tx) => tx.deleteLease({ kind: 'collect', holder: 'a' }),
  deleteEndedLeases: (tx) => tx.deleteEndedLeases('collect', 1),
  lockAuditHead: (tx) => tx.lockAuditHead(),
  takeUnsealedAuditEvents: (tx) => tx.takeUnsealedAuditEvents(9),
  putAuditPosition: (tx) => tx.putAuditPosition({ kind: 'anchor', seq: 1, hash: 'a' }),
  deleteAuditBefore: (tx) => tx.deleteAuditBefore(1, 9),
  deleteChangesBefore: (tx) => tx.deleteChangesBefore(1, 9),
  putOperator: (tx) => tx.putOperator({ userId: user, createdAtMs: 1 }),
  deleteOperator: (tx) => tx.deleteOperator(user),
  putNode: async (tx) => {
    const node = { id: newId('process'), node: 'a', pid: 1, version: '1', startedAtMs: 1 };
    await tx.putNode(node);
    await tx.putNode(node);
  },
  deleteNode: (tx) => tx.deleteNode(newId('process')),
  deleteSilentNodes: (tx) => tx.deleteSilentNodes(1),
  putMaintenanceRun: (tx) => tx.putMaintenanceRun({ kind: 'collect', endedAtMs: 1, outcome: {} }),
  addUsage: (tx) => tx.addUsage({ id: newId('process'), serial: 1, atMs: 1 }, [usageSubject], [usageDay]),
  deleteUsageBefore: (tx) => tx.deleteUsageBefore(1, 9),
  deleteUsageWriters: (tx) => tx.deleteUsageWriters(1),
  claimWebhookDeliveries: (tx) => tx.claimWebhookDeliveries([webhookId, newId('webhook')], { nowMs: 1, untilMs: 2 }),
  addCallReports: (tx) => tx.addCallReports([callReport, { ...callReport, fromMs: 2 }]),
  deleteCallReports: (tx) => tx.deleteCallReports(1, 9),
  putRollOut: (tx) => tx.putRollOut(rollOut),
  updateRollOut: (tx) => tx.updateRollOut(version.id, { state: 'paused' }),
  deleteRollOut: (tx) => tx.deleteRollOut(version.id),
  dateRollBacks: (tx) => tx.dateRollBacks(key, [guest], 2),
  updateWebhook: (tx) => tx.updateWebhook(webhookId, { state: 'disabled' }),
  deleteWebhook: (tx) => tx.deleteWebhook(webhookId),
  endWebhookSecrets: (tx) => tx.endWebhookSecrets(webhookId, 1),
  deleteEndedWebhookSecrets: (tx) => tx.deleteEndedWebhookSecrets(1),
  setWebhookDelivery: (tx) => tx.setWebhookDelivery({ id: deliveryId, attempts: 1 }, { state: 'failed' }),
  setWebhookHealth: (tx) => tx.setWebhookHealth(webhookId, { notBeforeMs: 1 }),
  replayWebhookDeliveries: (tx) => tx.replayWebhookDeliveries(webhookId, { sinceMs: 1, nowMs: 2, limit: 9 }),
  replayWebhookDelivery: (tx) => tx.replayWebhookDelivery(deliveryId, 1),
  deleteWebhookDeliveries: (tx) => tx.deleteWebhookDeliveries(webhookId, 9),
  deleteWebhookDeliveriesBefore: (tx) => tx.deleteWebhookDeliveriesBefore(1, 9),
  trimWebhookDeliveries: (tx) => tx.trimWebhookDeliveries(webhookId, { kept: 9, limit: 9 }),
  appendOciChunk: (tx) =>
    tx.appendOciChunk({ uploadId: ociUploadId, startByte: 0, size: 1, contentAddress: addressOf('a') }, 2),
  finishOciUpload: (tx) =>
    tx.finishOciUpload({ id: ociUploadId, size: 1, contentAddress: addressOf('a'), expiresAtMs: 2 }, 0),
  deleteOciUpload: (tx) => tx.deleteOciUpload(ociUploadId),
  deleteFinishedOciUploads: (tx) => tx.deleteFinishedOciUploads(key, [addressOf('a'), addressOf('b')]),
  deleteExpiredOciUploads: (tx) => tx.deleteExpiredOciUploads(1, 9),
  deleteTrustRule: (tx) => tx.deleteTrustRule(trustRuleId),
  setTrustRuleUsed: (tx) => tx.setTrustRuleUsed(trustRuleId, 1),
  updateLastUsed: (tx) =>
    tx.updateLastUsed(
      new Map([
        [newId('token'), lastUse],
        [newId('apiKey'), lastUse],
        [session, lastUse],
      ]),
    ),
};

describe('query plans', () => {
  let folder: string;
  let database: DatabaseSync;
  let db: Kysely<Database>;
  const asked: { sql: string; parameters: readonly unknown[] }[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-plans-'));
    const file = join(folder, 'tenon.db');
    await (await openSqliteStore(statements, { file })).close();
    database = await openWriter(file, 1000);
    db = new Kysely<Database>({
      dialect: writingDialect({ database, waitMs: 1000 }),
      log: ({ query }) => void asked.push(query),
    });
  });
  after(async () => {
    database.close();
    await rm(folder, { recursive: true });
  });

  /** How SQLite goes about the statements that the calls make, a line for each table. */
  async function plansOf(calls: (db: Kysely<Database>) => Promise<unknown>): Promise<string[]> {
    asked.length = 0;
    await calls(db);
    assert.ok(asked.length > 0);
    return asked.flatMap(({ sql, parameters }) =>
      database
        .prepare(`explain query plan ${sql}`)
        .all(...parameters.map(encodeForSqlite))
        .map(({ detail }) => String(detail)),
    );
  }
  /** `matches` are the rows of a subquery that are counted, `moved` those of a list of values, and `waiting` those that a recursion adds. The partial indexes `plugins_pending` and `audit_events_unsealed` have no rows but those that are asked for. */
  const scans = (plans: string[]) =>
    plans.filter((line) =>
      /^SCAN (?!\d+-ROW VALUES|CONSTANT ROW|(?:json_each|\w+) VIRTUAL TABLE|matches$|moved$|waiting$|plugins USING .*INDEX plugins_pending$|audit_events USING .*INDEX audit_events_unsealed$)/.test(
        line,
      ),
    );

  /** Queries that begin at the first row of a table, or at the last, and go no further than they are let. */
  const stopEarly: readonly string[] = [
    'anyUser',
    'auditOfAll',
    'strayAuditEvents',
    'listedQuotaOverrides',
    'operators',
    'hasOtherOperator',
    'users',
    'countUsersFound',
    'nodes',
    'packages',
    'signingKeys',
    'usableSigningKeys',
    'mirror',
    'mirroredApps',
    'hasOwnApp',
  ] satisfies (keyof Queries)[];

  for (const [method, calls] of Object.entries(everyQuery)) {
    const stopsEarly = stopEarly.includes(method);
    it(`${method}() scans ${stopsEarly ? 'a limited number of rows' : 'no table'}`, async () => {
      const plans = await plansOf((on) => Promise.all(calls(queries(on))));
      assert.equal(scans(plans).length > 0, stopsEarly, plans.join('\n'));
      if (stopsEarly) for (const { sql } of asked) assert.match(sql, / limit /);
    });
  }

  for (const method of ['auditOfApp', 'auditOfAccount', 'guestsToAttest'] as const) {
    it(`${method}() finds the rows of every page in their order, and sorts none`, async () => {
      const plans = await plansOf((on) => Promise.all(everyQuery[method](queries(on))));
      assert.deepEqual(
        plans.filter((line) => line.includes('TEMP B-TREE')),
        [],
      );
    });
  }

  for (const [method, change] of Object.entries(everyChange)) {
    it(`${method}() scans no table`, async () => {
      // Most of these fail for want of rows to refer to; what counts is what they asked until then.
      const plans = await plansOf((on) => change(transaction(on)).catch(() => {}));
      assert.deepEqual(scans(plans), [], plans.join('\n'));
    });
  }

  /** The searches by which some queries reach the rows of the caller alone, however many others there are. */
  const straight: { [M in keyof Queries]?: readonly string[] } = {
    appsOwnedAlone: ['members … (userId=?)', 'apps … (id=?)', 'members … (appId=?)'],
    bindingFacts: [
      'bindings … (extensionPointId=? AND userId=? AND name=?)',
      'versions … (extensionPointId=? AND userId=? AND name=?)',
      'version_guests … (versionId=? AND guestId=?)',
      'roll_outs … (versionId=?)',
      'roll_outs … (extensionPointId=? AND userId=? AND name=?)',
    ],
    dueRollOuts: [
      'roll_outs … ((dueAtMs,versionId)>(?,?) AND dueAtMs<?)',
      'plugins … (extensionPointId=? AND userId=? AND name=?)',
    ],
    openRollOuts: ['roll_outs … (extensionPointId=? AND userId=? AND name=?)', 'versions … (id=?)'],
    openRollOutsOfGuest: ['roll_outs … (appId=?)'],
    bindings: ['bindings … (extensionPointId=? AND guestId=?)', 'guests … (appId=? AND guestKey=?)'],
    bindingsToAttest: ['bindings … (extensionPointId=? AND guestId=?)'],
    guestsToAttest: ['guests … (appId=?)', 'guests … (appId=? AND guestKey>?)'],
    boundLists: [
      'bindings … (extensionPointId=? AND guestId=? AND name=?)',
      'bindings … (guestId=? AND userId=?)',
      'plugins … (userId=?)',
    ],
    bindingsOfGuest: ['bindings … (guestId=?)'],
    bindingsOfPlugin: ['bindings … (extensionPointId=? AND userId=? AND name=? AND guestId>?)'],
    guests: ['guests … (appId=? AND (sortKey,id)>(?,?))'],
    invitations: ['invitations … (guestId=? AND id>?)'],
    guestsHeldBy: ['guests … (appId=? AND id=?)', 'guest_users … (userId=?)'],
    mayReadContent: [
      'versions … (contentAddress=? AND appId=?)',
      'versions … (contentAddress=? AND appId=? AND userId=?)',
      'members … (userId=?)',
      'guest_users … (userId=?)',
    ],
    changes: ['change_events … (appId=? AND serial>?)'],
    plugins: ['plugins … (extensionPointId=?)', 'plugins … (extensionPointId=? AND userId=?)'],
    pluginsOfApp: ['plugins … (appId=? AND (sortKey,extensionPointId,userId,name)>(?,?,?,?))'],
    versions: ['versions … (extensionPointId=? AND userId=? AND name=? AND number<?)'],
    versionsAwaitingApproval: ['versions … (appId=? AND id>?)'],
  };
  for (const [method, searches] of Object.entries(straight)) {
    it(`${method}() goes straight to the rows of the caller`, async () => {
      const plans = await plansOf((on) => Promise.all(everyQuery[method as keyof Queries](queries(on))));
      const shortened = plans.map((line) => line.replace(/^SEARCH (\w+) USING .*INDEX \w+/, '$1 …'));
      for (const search of searches) assert.ok(shortened.includes(search), `${search} in\n${plans.join('\n')}`);
    });
  }

  it('every foreign key has an index that begins with its columns, so that deletions scan no table', () => {
    const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
    let checked = 0;
    for (const { name: table } of tables) {
      const indexes = database
        .prepare('select name from pragma_index_list(?)')
        .all(String(table))
        .map(({ name }) => columnsOf('pragma_index_info', String(name), 'seqno'));
      const keys = new Map<unknown, string[]>();
      for (const { id, from } of database.prepare('select * from pragma_foreign_key_list(?)').all(String(table))) {
        keys.set(id, [...(keys.get(id) ?? []), String(from)]);
      }
      for (const columns of keys.values()) {
        const covered = indexes.some((index) =>
          columns.every((column) => index.slice(0, columns.length).includes(column)),
        );
        assert.ok(covered, `${table} (${columns})`);
        checked++;
      }
    }
    assert.ok(checked >= 25);
  });

  function columnsOf(pragma: string, of: string, order: string): string[] {
    return database
      .prepare(`select name from ${pragma}(?) order by ${order}`)
      .all(of)
      .map(({ name }) => String(name));
  }
});
