import type { Migration } from '../migrate.ts';
import { baseline } from './0001-baseline.ts';
import { packages } from './0002-packages.ts';
import { usage } from './0003-usage.ts';
import { mails } from './0004-mails.ts';
import { simulations } from './0005-simulations.ts';
import { simulationRuns } from './0006-simulation-runs.ts';
import { identities } from './0007-identities.ts';
import { passkeys } from './0008-passkeys.ts';
import { trustedPublishing } from './0009-trusted-publishing.ts';
import { policy } from './0010-policy.ts';
import { quotas } from './0011-quotas.ts';
import { auditChain } from './0012-audit-chain.ts';
import { attestations } from './0013-attestations.ts';
import { webhooks } from './0014-webhooks.ts';
import { ociPush } from './0015-oci-push.ts';
import { rollOuts } from './0016-roll-outs.ts';
import { mirror } from './0017-mirror.ts';
import { callReports } from './0018-call-reports.ts';
import { webhookQueue } from './0019-webhook-queue.ts';
import { bundleImports } from './0020-bundle-imports.ts';
import { pluginChanges } from './0021-plugin-changes.ts';

/**
 * All migrations, in the order in which they run. A released migration never changes. Write a short migration here, and a long one in
 * its own file.
 */
export const migrations: readonly Migration[] = [
  baseline,
  packages,
  usage,
  mails,
  simulations,
  simulationRuns,
  identities,
  passkeys,
  trustedPublishing,
  policy,
  quotas,
  auditChain,
  attestations,
  webhooks,
  ociPush,
  rollOuts,
  mirror,
  callReports,
  webhookQueue,
  bundleImports,
  pluginChanges,
];
