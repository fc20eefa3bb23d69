import type { TokenScope } from '@tenon/protocol';
import { CheckboxField } from '../../components/field.tsx';

/** What each scope allows a program; see `docs/reference/http-api.md`. */
const words: Readonly<Record<TokenScope, { readonly label: string; readonly hint: string }>> = {
  read: {
    label: 'Read what you can see',
    hint: 'Applications, extension points and plugins; for teams also guests and active versions.',
  },
  publish: {
    label: 'Publish plugins in your name',
    hint: 'Also accept and decline invitations.',
  },
  manage: {
    label: 'Manage your applications and account',
    hint: 'Change and delete applications, invite guests, create tokens, change your account. Requires your password.',
  },
};

/** The requested scopes, each of which the user can deselect. */
export function ScopeChoice(props: {
  readonly asked: readonly TokenScope[];
  readonly granted: readonly TokenScope[];
  readonly onChange: (granted: readonly TokenScope[]) => void;
}) {
  const { asked, granted, onChange } = props;
  return (
    <fieldset class="scopes">
      <legend class="field-legend">Permissions</legend>
      {asked.map((scope) => (
        <CheckboxField
          key={scope}
          name={`scope-${scope}`}
          label={words[scope].label}
          hint={words[scope].hint}
          isChecked={granted.includes(scope)}
          onChange={(isChecked) =>
            onChange(asked.filter((other) => (other === scope ? isChecked : granted.includes(other))))
          }
        />
      ))}
    </fieldset>
  );
}
