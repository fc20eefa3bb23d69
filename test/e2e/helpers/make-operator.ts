import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import type { Stage } from '../../../packages/console/test/helpers/stage.ts';
import { tenon } from '../../helpers/server.ts';

/** Makes a user an operator, on the server's machine. */
export async function makeOperator({ server }: Stage, userId: string): Promise<void> {
  const args = [tenon, 'admin', 'operator', 'grant', userId, '--yes', '--store', join(server.folder, 'tenon-data')];
  await promisify(execFile)(process.execPath, args);
}
