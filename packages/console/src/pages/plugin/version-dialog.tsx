import type { ExtensionPoint, Version } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { useData } from '../../state/use-data.ts';
import { ActionDialog, type ActionDialogProps, type ActionWords } from './action-dialog.tsx';
import type { PluginAction } from './plugin-action.ts';
import type { UndoAction } from './undo-action.ts';
import type { VersionAction } from './version-actions.ts';

interface Props extends ActionDialogProps {
  readonly action: VersionAction;
  /** The plugin's name. */
  readonly name: string;
  readonly version: Pick<Version, 'number' | 'rollOut'>;
  /** Whether this is the newest version, so that rolling back to it only ends earlier rollbacks. */
  readonly endsRollback?: boolean;
  /** The plugin's path in the API. */
  readonly apiPath: string;
  /** Whether the plugin belongs to another user. */
  readonly isPublishedByOther: boolean;
  readonly isBlocked?: boolean;
  readonly undo?: UndoAction | undefined;
  /** The extension point, for the team, which may plan a roll-out. */
  readonly extensionPointId?: string | undefined;
}

/** Confirms an action on a version. */
export function VersionDialog(props: Props) {
  const { action, version, extensionPointId } = props;
  const isRelease = action === 'approve' || action === 'release' || action === 'restore';
  // The first version of a plugin has none before it, which the other guests could keep.
  const isFirst = version.number === 1 && version.rollOut === null;
  if (!isRelease || extensionPointId === undefined || isFirst) return <PlainDialog {...props} />;
  return <ReleaseDialog {...props} extensionPointId={extensionPointId} />;
}

/** Asks also how the version reaches the guests. Without the extension point's plan or the code, its plan applies. */
function ReleaseDialog(props: Props & { readonly extensionPointId: string }) {
  const { action, version, extensionPointId } = props;
  const api = useApi();
  const path = `/api/v1/extension-points/${encodeURIComponent(extensionPointId)}`;
  const point = useCachedData(path, (signal) => api.get<ExtensionPoint>(path, { signal }));
  const code = useData(() => import('../roll-outs/plan-choice.tsx'), []);
  if (point.status === 'loading' || code.status === 'loading') return null;
  if (point.status === 'failed' || code.status === 'failed') return <PlainDialog {...props} />;
  const { PlannedRelease } = code.data;
  return (
    <PlannedRelease usual={point.data.rollOut} wasPlanned={action !== 'approve' && version.rollOut !== null}>
      {(planned) => <PlainDialog {...props} {...planned} />}
    </PlannedRelease>
  );
}

function PlainDialog(
  props: Props & {
    /** What is added to the request. */
    readonly plan?: object;
    readonly missing?: string | undefined;
    readonly children?: ComponentChildren;
  },
) {
  const {
    plan = {},
    action,
    name,
    version,
    endsRollback = false,
    apiPath,
    isPublishedByOther,
    isBlocked = false,
  } = props;
  const { number } = version;
  const needsReason = action === 'yank' || action === 'reject' || action === 'release';
  const hint = isPublishedByOther ? 'The publisher will see this.' : 'You and the team see this in the history.';
  const request: PluginAction =
    action === 'rollBack'
      ? { method: 'POST', path: `${apiPath}/rollback`, json: { version: number } }
      : {
          method: 'POST',
          path: `${apiPath}/versions/${number}/${action}`,
          ...(Object.keys(plan).length > 0 && { json: plan }),
        };
  return (
    <ActionDialog
      {...props}
      words={wordsOf({ action, name, number, endsRollback, isPublishedByOther, isBlocked })}
      action={request}
      {...(needsReason && { reasonHint: hint })}
      {...(action === 'yank' && { lastUseOf: apiPath })}
    />
  );
}

interface Subject {
  readonly action: VersionAction;
  readonly name: string;
  readonly number: number;
  readonly endsRollback: boolean;
  readonly isPublishedByOther: boolean;
  readonly isBlocked: boolean;
}

function wordsOf({ action, name, number, endsRollback, isPublishedByOther, isBlocked }: Subject): ActionWords {
  const version = `${name} version ${number}`;
  switch (action) {
    case 'rollBack':
      return endsRollback
        ? {
            title: 'End the rollback?',
            text: `Hosts get version ${number}, the newest, and later versions as they are published.`,
            button: 'End rollback',
            done: 'Rollback ended.',
          }
        : {
            title: `Roll back to ${version}?`,
            text: isPublishedByOther
              ? 'Hosts get this version until the publisher publishes a newer version, or you end the rollback.'
              : 'Hosts get this version until you publish a newer version or end the rollback.',
            button: 'Roll back',
            done: `Rolled back to ${version}.`,
          };
    case 'yank':
      return {
        title: `Yank ${version}?`,
        text: 'Hosts stop receiving this version. Hosts that already have its address can still fetch its content. You can restore it.',
        button: 'Yank version',
        done: `${version} yanked.`,
      };
    case 'restore':
      return {
        title: `Restore ${version}?`,
        text: 'The version is published again.',
        button: 'Restore version',
        done: `${version} restored.`,
      };
    case 'approve':
      return {
        title: `Approve ${version}?`,
        text: `Publishes this version.${isBlocked ? ' Hosts get nothing while the plugin is blocked.' : ''}`,
        button: 'Approve version',
        done: `${version} approved.`,
      };
    case 'release':
      return {
        title: `Release ${version} now?`,
        text: 'Hosts get this version before it has the minimum age of the extension point. The audit trail records the reason.',
        button: 'Release version',
        done: `${version} released.`,
      };
    case 'reject':
      return {
        title: `Reject ${version}?`,
        text: 'This version will never be published. You can’t undo this. The publisher can publish another version.',
        button: 'Reject version',
        done: `${version} rejected.`,
      };
  }
}
