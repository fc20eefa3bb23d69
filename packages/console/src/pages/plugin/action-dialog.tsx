import type { Plugin } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { hasCode, isAbort } from '../../api/api-error.ts';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { ReasonDialog } from '../../components/reason-dialog.tsx';
import { LastUse } from '../../components/usage/last-use.tsx';
import { useServices } from '../../state/services.ts';
import { Effects, type GuestNames } from './effects.tsx';
import { type PluginAction, perform } from './plugin-action.ts';
import type { UndoAction } from './undo-action.ts';

/** The texts of a dialog. */
export interface ActionWords {
  readonly title: string;
  readonly text: string;
  readonly button: string;
  /** The toast after the action. */
  readonly done: string;
}

/** What all dialogs of a plugin's page have in common. */
export interface ActionDialogProps {
  readonly guests: GuestNames;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** A dry run needs a reason where the action does. */
const anyReason = { reason: 'Not given yet.' };

/** Confirms an action on a plugin, and shows what it changes. */
export function ActionDialog(
  props: ActionDialogProps & {
    readonly words: ActionWords;
    readonly action: PluginAction;
    /** Reverses the action, from the toast. */
    readonly undo?: UndoAction | undefined;
    /** For an action that takes a reason: who sees the reason. */
    readonly reasonHint?: string;
    readonly isDangerous?: boolean;
    /** What has to be typed to confirm. */
    readonly typed?: string;
    /** Why the action can't be confirmed yet. */
    readonly missing?: string | undefined;
    /** The plugin's path in the API, for an action that takes the plugin from hosts. */
    readonly lastUseOf?: string;
    readonly children?: ComponentChildren;
  },
) {
  const { words, action, undo, reasonHint, isDangerous = false, onDone } = props;
  const { session, toasts, liveUpdates } = useServices();
  const [isOutdated, setOutdated] = useState(false);
  const onClose = (): void => {
    props.onClose();
    if (isOutdated) onDone();
  };
  const confirm = async (reason?: string): Promise<void> => {
    try {
      const wanted = reason === undefined ? action : withReason(action, { reason });
      const changed = await perform(session.api, wanted);
      if (isUnconfirmed(changed)) await confirmBlock(wanted);
    } catch (error) {
      setOutdated(hasCode(error, 'conflict'));
      throw error;
    }
    onClose();
    toasts.show(words.done, 'done', undo && (() => reverse(undo)));
    onDone();
  };
  /** A block takes effect at once. After step-up, the repeated request confirms it; without, it stays marked as unconfirmed. */
  const confirmBlock = async (block: PluginAction): Promise<void> => {
    try {
      await session.confirm();
      await perform(session.api, block);
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  };
  // The user may have left the page.
  const reverse = async (undo: UndoAction): Promise<void> => {
    try {
      await perform(session.api, undo.action);
      toasts.show(undo.done);
    } catch (error) {
      if (!isAbort(error)) toasts.show(`Not undone. ${messageOf(error)}`, 'failed');
    }
    liveUpdates.refresh();
  };
  const content = (
    <>
      <p>{words.text}</p>
      {props.lastUseOf === undefined ? null : <LastUse apiPath={props.lastUseOf} />}
      {props.children}
      <Effects action={reasonHint === undefined ? action : withReason(action, anyReason)} guests={props.guests} />
    </>
  );
  const missing = isOutdated ? 'The plugin has changed. Cancel to see its current state.' : props.missing;
  const shared = { title: words.title, action: words.button, missing, onClose };
  if (reasonHint !== undefined) {
    return (
      <ReasonDialog {...shared} hint={reasonHint} onConfirm={confirm}>
        {content}
      </ReasonDialog>
    );
  }
  return (
    <ConfirmDialog {...shared} isDangerous={isDangerous} typed={props.typed} onConfirm={() => confirm()}>
      {content}
    </ConfirmDialog>
  );
}

function withReason(action: PluginAction, reason: { readonly reason: string }): PluginAction {
  return { ...action, json: { ...action.json, ...reason } };
}

function isUnconfirmed(changed: unknown): boolean {
  return typeof changed === 'object' && changed !== null && (changed as Partial<Plugin>).status?.isUnconfirmed === true;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Try again.';
}
