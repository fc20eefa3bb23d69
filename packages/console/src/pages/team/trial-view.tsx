import type { BreakingPlugin, SchemaTrial } from '@tenon/protocol';
import { Badge } from '../../components/badge.tsx';
import { Link } from '../../components/link.tsx';
import { Notice } from '../../components/notice.tsx';
import { teamPluginPath } from '../plugin/plugin-path.ts';
import { guestCount } from '../plugin/plugin-words.ts';
import './trial-view.css';

/** What a trial came to, in a sentence. */
export function trialWords({ checked, breaking }: SchemaTrial): string {
  if (checked === 0) return 'No plugin is bound here yet: nothing can break.';
  if (breaking === 0) return checked === 1 ? 'The one bound version fits.' : `All ${checked} bound versions fit.`;
  return `${breaking} of ${checked === 1 ? '1 bound version' : `${checked} bound versions`} would not fit.`;
}

/** How many plugins fit now and would not any more: those that somebody has to be asked about. */
export function newlyBreaking({ objects }: SchemaTrial): number {
  const breaking = objects.filter(({ isBrokenAlready }) => !isBrokenAlready);
  return new Set(breaking.map(({ pluginId }) => pluginId)).size;
}

/** So many plugins are listed with all that speaks against each. */
const shownPlugins = 20;
const shownMismatches = 5;

/** Which bound plugins would not fit, and why. */
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
        <Notice kind="warning" title="Could not be looked at">
          <ul>
            {unreadable.map(({ pluginId, name, version, detail }) => (
              <li key={`${pluginId} ${version}`}>
                <code>{name}</code> version {version}: {detail}
              </li>
            ))}
            {hasMoreUnreadable ? <li>And more.</li> : null}
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
        version {version} of {userName}{' '}
        <span class="soft small">– bound under {guestCount(guestIds, hasMoreGuests)}</span>{' '}
        {isBrokenAlready ? <Badge>does not fit now either</Badge> : null}
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
