import type { BreakingPlugin, SchemaTrial } from '@tenon/protocol';
import { Badge } from '../../components/badge.tsx';
import { counted } from '../../components/count.ts';
import { Link } from '../../components/link.tsx';
import { Notice } from '../../components/notice.tsx';
import { teamPluginPath } from '../plugin/plugin-path.ts';
import { guestCount } from '../plugin/plugin-words.ts';
import './trial-view.css';

/** The result of a trial in a sentence. */
export function trialWords({ checked, breaking }: SchemaTrial): string {
  if (checked === 0) return 'No plugin is active here yet.';
  if (breaking === 0) return checked === 1 ? 'The only active version fits.' : `All ${checked} active versions fit.`;
  return `${breaking} of ${counted(checked, 'active version')} would not fit.`;
}

/** Returns how many plugins fit now and would no longer fit. Saving the change needs a confirmation for them. */
export function newlyBreaking({ objects }: SchemaTrial): number {
  const breaking = objects.filter(({ isBrokenAlready }) => !isBrokenAlready);
  return new Set(breaking.map(({ pluginId }) => pluginId)).size;
}

/** How many plugins are listed, and reasons for each. */
const shownPlugins = 20;
const shownMismatches = 5;

/** The active plugins that would not fit, and the reasons. */
export function TrialView({ appId, trial }: { readonly appId: string; readonly trial: SchemaTrial }) {
  const { objects, unreadable, hasMoreUnreadable, breaking } = trial;
  // Those that break by the change come first.
  const sorted = objects.toSorted((a, b) => Number(a.isBrokenAlready) - Number(b.isBrokenAlready));
  return (
    <div class="trial">
      {sorted.length === 0 ? null : (
        <ul class="trial-plugins">
          {sorted.slice(0, shownPlugins).map((plugin) => (
            <Breaking key={`${plugin.pluginId} ${plugin.version}`} appId={appId} plugin={plugin} />
          ))}
        </ul>
      )}
      {breaking > shownPlugins ? <p class="soft small">And {breaking - shownPlugins} more.</p> : null}
      {unreadable.length === 0 ? null : (
        <Notice kind="warning" title="Not checked">
          <ul>
            {unreadable.map(({ pluginId, name, version, detail }) => (
              <li key={`${pluginId} ${version}`}>
                <code>{name}</code> version {version}: {detail}
              </li>
            ))}
            {hasMoreUnreadable ? <li>There are more.</li> : null}
          </ul>
        </Notice>
      )}
    </div>
  );
}

function Breaking({ appId, plugin }: { readonly appId: string; readonly plugin: BreakingPlugin }) {
  const { pluginId, name, userName, version, guestIds, hasMoreGuests, mismatches, isBrokenAlready } = plugin;
  const more = mismatches.length - shownMismatches;
  return (
    <li>
      <p>
        <Link to={teamPluginPath(appId, pluginId)}>
          <code>{name}</code>
        </Link>{' '}
        version {version} by {userName}{' '}
        <span class="soft small">– active for {guestCount(guestIds, hasMoreGuests)}</span>{' '}
        {isBrokenAlready ? <Badge>doesn’t fit now either</Badge> : null}
      </p>
      <ul class="small">
        {mismatches.slice(0, shownMismatches).map(({ pointer, detail }) => (
          <li key={pointer + detail}>{detail}</li>
        ))}
        {more > 0 ? <li>And {more} more.</li> : null}
      </ul>
    </li>
  );
}
