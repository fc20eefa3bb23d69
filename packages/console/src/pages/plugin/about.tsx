import type { Plugin, PluginAbout } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { TextAreaField, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Markdown } from '../../components/markdown/markdown.tsx';
import { Section } from '../../components/page.tsx';
import { useApi, useServices } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { useSubmit } from '../../state/use-submit.ts';
import type { Roles } from './version-actions.ts';

/** What the publisher says about a plugin: description, homepage, and README. */
export function AboutPlugin({
  plugin,
  apiPath,
  roles,
}: {
  readonly plugin: Plugin;
  /** The plugin's path in the API. */
  readonly apiPath: string;
  readonly roles: Roles;
}) {
  const api = useApi();
  const path = `${apiPath}/about`;
  const about = useCachedData(path, (signal) => api.get<PluginAbout>(path, { signal }));
  const [asked, setAsked] = useState<'edit' | 'remove'>();
  const close = (): void => setAsked(undefined);
  const mayEdit = roles.isPublisher && plugin.status.state !== 'blocked';
  return (
    <Loaded of={about} lines={2}>
      {(data) => {
        const { description, homepage, readme } = data;
        const isEmpty = description === null && homepage === null && readme === null;
        if (isEmpty && !mayEdit) return null;
        return (
          <Section
            title="About"
            actions={
              <>
                {mayEdit ? (
                  <Button kind="quiet" isSmall onClick={() => setAsked('edit')}>
                    {isEmpty ? 'Describe the plugin…' : 'Edit…'}
                  </Button>
                ) : null}
                {isEmpty || !(roles.isHost || roles.isPublisher) ? null : (
                  <Button kind="quiet" isSmall label="Remove description" onClick={() => setAsked('remove')}>
                    Remove…
                  </Button>
                )}
              </>
            }
          >
            {isEmpty ? <p class="soft">No description yet</p> : null}
            {description === null ? null : <p>{description}</p>}
            {homepage === null ? null : <Homepage url={homepage} />}
            {readme === null ? null : <Markdown text={readme} />}
            {asked === 'edit' ? (
              <EditDialog path={path} about={data} onSaved={(saved) => about.update(() => saved)} onClose={close} />
            ) : null}
            {asked === 'remove' ? (
              <DeleteDialog
                title="Remove description?"
                action="Remove description"
                apiPath={path}
                done="Description removed."
                onDone={about.reload}
                onClose={close}
              >
                <p>Removes the description, the homepage, and the README. The plugin and its versions stay.</p>
              </DeleteDialog>
            ) : null}
          </Section>
        );
      }}
    </Loaded>
  );
}

/** The server accepts http and https URLs only. */
function Homepage({ url }: { readonly url: string }) {
  if (!/^https?:/.test(url)) return null;
  return (
    <p>
      <a href={url} target="_blank" rel="noopener noreferrer nofollow ugc">
        {url.replace(/^https?:\/\//, '').replace(/\/$/, '')}
      </a>
    </p>
  );
}

function EditDialog(props: {
  readonly path: string;
  readonly about: PluginAbout;
  readonly onSaved: (about: PluginAbout) => void;
  readonly onClose: () => void;
}) {
  const { session, toasts } = useServices();
  const [description, setDescription] = useState(props.about.description ?? '');
  const [homepage, setHomepage] = useState(props.about.homepage ?? '');
  const [readme, setReadme] = useState(props.about.readme ?? '');
  const form = useSubmit(async () => {
    const body = { description: description.trim() || null, homepage: homepage.trim() || null, readme: readme || null };
    props.onSaved(await session.api.put<PluginAbout>(props.path, body));
    props.onClose();
    toasts.show('Description saved.');
  }, ['description', 'homepage', 'readme']);
  return (
    <FormDialog title="Describe the plugin" action="Save" form={form} onClose={props.onClose}>
      <TextField
        label="Description"
        name="description"
        hint="Plain text, for lists"
        value={description}
        maxLength={500}
        isRequired={false}
        error={form.fieldError('description')}
        hasFocus
        onInput={setDescription}
      />
      <TextField
        label="Homepage"
        name="homepage"
        placeholder="https://"
        value={homepage}
        isRequired={false}
        error={form.fieldError('homepage')}
        onInput={setHomepage}
      />
      <TextAreaField
        label="README"
        name="readme"
        hint="Markdown without HTML and images, at most 64 KiB"
        value={readme}
        rows={10}
        isRequired={false}
        error={form.fieldError('readme')}
        onInput={setReadme}
      />
    </FormDialog>
  );
}
