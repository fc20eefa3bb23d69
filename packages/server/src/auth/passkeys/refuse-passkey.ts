import type { UserId } from '@tenon/protocol';
import type { Deps } from '../../deps.ts';
import { DomainError } from '../../http/domain-errors.ts';
import type { RefusalReason } from '../refusal-reasons.ts';
import { recordRefusal } from '../refusals.ts';

/** A refused response, with its reason for the audit trail. The client learns only that it was refused. */
export class PasskeyRefusedError extends DomainError {
  readonly reason: RefusalReason;
  readonly accountId: UserId | undefined;

  constructor(reason: RefusalReason, accountId?: UserId) {
    super('invalid_passkey', 'The passkey was not accepted. Try again, or use another way to sign in.');
    this.reason = reason;
    this.accountId = accountId;
  }
}

/** Runs the verification of a response, and records a refusal. */
export async function recordingRefusals<T>(deps: Deps, address: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PasskeyRefusedError) {
      const { reason, accountId } = error;
      await recordRefusal(deps, { means: 'passkey', reason, address, ...(accountId !== undefined && { accountId }) });
    }
    throw error;
  }
}
