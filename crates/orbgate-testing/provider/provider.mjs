// A real OpenID provider for tests: one JSON command a line in, one JSON answer a line out.
//
//   {"do":"organisation","scope":"…"}      a token by client credentials
//   {"do":"user","scope":"…"}              {token, id_token} by authorization code, PKCE, login and consent
//   {"do":"declare","scope":"…"}           what the Permissions tab of the application says
//   {"do":"rotate","algorithm":"ES256"}    a new key instead of the old one
//   {"do":"lifetime","seconds":600}        of the tokens to come
//   {"do":"format","format":"opaque"}      of the tokens to come: opaque or jwt
//   {"do":"revoke","token":"…"}            ends a token of org-1
//   {"do":"judge","tokens":["…"],…}        which tokens another implementation accepts
//   {"do":"requests"}                      how often the key set was asked for
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { createLocalJWKSet, jwtVerify } from 'jose';
import Provider from 'oidc-provider';

console.info = console.error; // the provider's notes; answers alone go to standard output

const AUDIENCE = 'https://api.example.com';
const REDIRECT = 'https://app.example.com/callback';
const SECRET = 'not-a-secret-outside-of-these-tests';

const state = { declared: 'read:account write:voxies', algorithm: 'ES256', key: 0, requests: 0, lifetime: 600, format: 'jwt' };

const server = createServer((request, response) => {
  if (request.url === '/jwks') state.requests += 1;
  state.handle(request, response);
});
server.listen(0, '127.0.0.1', () => {
  state.issuer = `http://127.0.0.1:${server.address().port}`;
  rotate();
  answer({ issuer: state.issuer, audience: AUDIENCE, secret: SECRET });
  createInterface({ input: process.stdin })
    .on('line', (line) => void obey(JSON.parse(line)).then(answer, (error) => answer({ error: String(error) })))
    .on('close', () => process.exit(0));
});

function answer(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function obey(command) {
  switch (command.do) {
    case 'organisation': return organisation(command);
    case 'user': return user(command);
    case 'declare': state.declared = command.scope; return {};
    case 'rotate': state.algorithm = command.algorithm; rotate(); return { kid: kid() };
    case 'lifetime': state.lifetime = command.seconds; return {};
    case 'format': state.format = command.format; return {};
    case 'revoke': await post('/token/revocation', { token: command.token }, 'org-1'); return {};
    case 'judge': return judge(command);
    case 'requests': return { count: state.requests };
    default: throw new Error(`unknown command ${command.do}`);
  }
}

const kid = () => `key-${state.key}`;

// The keys of a provider are fixed when it is made, so a rotation makes a new one.
function rotate() {
  state.key += 1;
  const provider = new Provider(state.issuer, {
    jwks: { keys: [newKey(state.algorithm)] },
    clients: [
      {
        client_id: 'org-1', client_secret: SECRET, grant_types: ['client_credentials'],
        redirect_uris: [], response_types: [], id_token_signed_response_alg: state.algorithm,
      },
      {
        client_id: 'app-1', client_secret: SECRET, grant_types: ['authorization_code'],
        redirect_uris: [REDIRECT], response_types: ['code'], id_token_signed_response_alg: state.algorithm,
      },
    ],
    cookies: { keys: [SECRET] },
    enabledJWA: { idTokenSigningAlgValues: [state.algorithm] },
    extraTokenClaims: (_, token) => ({ token_kind: token.kind === 'ClientCredentials' ? 'organisation' : 'user' }),
    features: {
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          // What is declared: a requested scope beyond it is silently left out of the token.
          scope: state.declared,
          accessTokenFormat: state.format,
          accessTokenTTL: state.lifetime,
          jwt: { sign: { alg: state.algorithm } },
        }),
      },
    },
  });
  state.handle = provider.callback();
}

function newKey(algorithm) {
  const [type, options] = {
    ES256: ['ec', { namedCurve: 'P-256' }],
    RS256: ['rsa', { modulusLength: 2048 }],
    PS256: ['rsa', { modulusLength: 2048 }],
    EdDSA: ['ed25519', {}],
  }[algorithm];
  const { privateKey } = generateKeyPairSync(type, options);
  return { ...privateKey.export({ format: 'jwk' }), kid: kid(), alg: algorithm, use: 'sig' };
}

async function organisation({ scope }) {
  const answer = await post('/token', { grant_type: 'client_credentials', scope, resource: AUDIENCE }, 'org-1');
  return { token: answer.access_token };
}

async function user({ scope }) {
  const verifier = randomBytes(32).toString('base64url');
  const browser = new Browser();
  const query = new URLSearchParams({
    client_id: 'app-1', response_type: 'code', redirect_uri: REDIRECT, scope: `openid ${scope ?? ''}`.trim(),
    resource: AUDIENCE, code_challenge_method: 'S256',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  });
  let url = await browser.follow(`${state.issuer}/auth?${query}`);
  url = await browser.submit(url, { prompt: 'login', login: 'user-7', password: 'any' });
  url = await browser.submit(url, { prompt: 'consent' });
  const code = new URL(url).searchParams.get('code');
  if (!code) throw new Error(`no code: ${url}`);
  const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: verifier, resource: AUDIENCE };
  const answer = await post('/token', form, 'app-1');
  return { token: answer.access_token, id_token: answer.id_token };
}

async function post(path, form, client) {
  const authorization = `Basic ${Buffer.from(`${client}:${SECRET}`).toString('base64')}`;
  const fields = Object.entries(form).filter(([, value]) => value);
  const response = await fetch(state.issuer + path, {
    method: 'POST', headers: { authorization }, body: new URLSearchParams(fields),
  });
  const text = await response.text(); // of a revocation: nothing
  const body = text && JSON.parse(text);
  if (!response.ok) throw new Error(JSON.stringify(body));
  return body;
}

// As much of a browser as a login needs: cookies and redirects.
class Browser {
  #cookies = new Map();

  // Follows redirects up to a page, or out of the provider.
  async follow(url, init = {}) {
    for (let hops = 0; hops < 10; hops += 1) {
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
        this.#cookies.set(name, value);
      }
      const location = response.headers.get('location');
      if (!location) return url;
      url = new URL(location, url).href;
      if (!url.startsWith(state.issuer)) return url;
      init = {};
    }
    throw new Error('too many redirects');
  }

  submit(url, form) {
    return this.follow(url, { method: 'POST', body: new URLSearchParams(form) });
  }
}

async function judge({ tokens, jwks, issuer, audience, algorithms, now }) {
  const keys = createLocalJWKSet(jwks);
  const currentDate = new Date(now * 1000);
  const options = {
    issuer, audience, algorithms, currentDate, clockTolerance: 60, typ: 'at+jwt', requiredClaims: ['exp'],
  };
  const accepts = (token) => jwtVerify(token, keys, options).then(() => true, () => false);
  return { accepted: await Promise.all(tokens.map(accepts)) };
}
