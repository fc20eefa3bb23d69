import { Component, type ComponentChildren, type ComponentType } from 'preact';
import lazy from 'preact-iso/lazy';
import { LocationProvider, Route, Router } from 'preact-iso/router';
import { basePath, href } from './base-path.ts';
import { ErrorView } from './components/error-view.tsx';
import { BareLayout, Layout } from './components/layout.tsx';
import { PasswordDialog } from './components/password-dialog.tsx';
import { Spinner } from './components/spinner.tsx';
import { ToastList } from './components/toast-list.tsx';
import { NotFoundPage } from './pages/not-found.tsx';
import { SignInForm } from './pages/sign-in-form.tsx';
import { pageRoutes } from './routes/all.ts';
import type { PageRoute } from './routes/page-route.ts';
import { noteNavigation } from './state/navigation.ts';
import { type Services, ServicesContext, useSession } from './state/services.ts';

export function App({ services }: { readonly services: Services }) {
  return (
    <ServicesContext.Provider value={services}>
      <LocationProvider scope={basePath}>
        <Router onRouteChange={noteNavigation}>
          {pages.map(({ path, component }) => (
            <Route key={path} path={href(path)} component={component} />
          ))}
          <Route default component={NotFound} />
        </Router>
      </LocationProvider>
      <PasswordDialog />
      <ToastList />
    </ServicesContext.Provider>
  );
}

const pages = pageRoutes.map((route) => ({ path: route.path, component: framed(route) }));

/** Puts what all pages have around one: the layout, who may see it, what stands there while its code is loaded. */
function framed({ access, isBare, load }: PageRoute): ComponentType {
  const Content = lazy(load) as ComponentType;
  const Frame = isBare ? BareLayout : Layout;
  return function FramedPage() {
    const { session, view } = useSession();
    if (view.status === 'loading') return <Waiting />;
    if (view.status === 'failed') {
      return (
        <BareLayout>
          <h1>Tenon cannot be reached</h1>
          <ErrorView error={view.error} onRetry={() => void session.load()} />
        </BareLayout>
      );
    }
    if (access === 'signedIn' && view.account === null) {
      return (
        <BareLayout>
          <SignInForm />
        </BareLayout>
      );
    }
    return (
      <Frame>
        <Guard key={view.account?.id ?? 'nobody'}>
          <Content />
        </Guard>
      </Frame>
    );
  };
}

function Waiting() {
  return (
    <div class="waiting">
      <Spinner label="Loading …" />
    </div>
  );
}

function NotFound() {
  const { view } = useSession();
  if (view.status === 'loading') return <Waiting />;
  const Frame = view.status === 'ready' && view.account !== null ? Layout : BareLayout;
  return (
    <Frame>
      <NotFoundPage />
    </Frame>
  );
}

/** Shows what a page of ours failed with, in the place of the page. */
class Guard extends Component<{ readonly children: ComponentChildren }, { readonly error?: unknown }> {
  static override getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }
  override render() {
    const { error } = this.state;
    return error === undefined ? (
      this.props.children
    ) : (
      <ErrorView error={error} onRetry={() => this.setState({ error: undefined })} />
    );
  }
}
