import type { Migration } from '../migrate.ts';
import { initial } from './0001-initial.ts';
import { accounts } from './0002-accounts.ts';
import { versions } from './0003-versions.ts';
import { blobs } from './0004-blobs.ts';
import { audit } from './0005-audit.ts';
import { news } from './0006-news.ts';
import { status } from './0007-status.ts';
import { hardening } from './0008-hardening.ts';

/** Every migration there is, in the order in which they run. One that was released is never changed again. */
export const migrations: readonly Migration[] = [initial, accounts, versions, blobs, audit, news, status, hardening];
