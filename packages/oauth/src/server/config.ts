/** How the authorization server keeps time and bounds: `oauth.*` of the gateway's configuration. */
export interface OAuthConfig {
  /** How long an access token holds. */
  readonly accessTokenSeconds: number;
  /** How long a refresh token holds that nobody uses. */
  readonly refreshIdleSeconds: number;
  /** How long a login holds, however much it is used. */
  readonly refreshAbsoluteSeconds: number;
  /** A rotated refresh token gets the same successor again for so long; 0: never. */
  readonly refreshGraceSeconds: number;
  /** How long an authorization code holds. */
  readonly codeSeconds: number;
  /** An authorization code gets the same grant again for so long, from the same client with the same verifier; 0: never. */
  readonly codeReplaySeconds: number;
  /** How long a device code holds. */
  readonly deviceCodeSeconds: number;
  /** How long a device waits between two polls, at first. */
  readonly deviceIntervalSeconds: number;
  /** Device codes that one client at one address, of IPv6 in one network, may have pending. */
  readonly maxPendingDeviceCodes: number;
  /** How long a person stays signed in, and a session key holds. */
  readonly sessionSeconds: number;
  /** How long a one-time link to set a password holds. */
  readonly setupLinkSeconds: number;
  /** Audit entries are kept for so long. */
  readonly auditRetentionDays: number;
  /** `iss` in redirects (RFC 9207), and its flag in the metadata. */
  readonly issParameter: boolean;
  /** Whether tokens may be introspected (RFC 7662). */
  readonly introspection: boolean;
  /** Whoever asks without a credential is told of the default account: for an installation of one person. */
  readonly singleUser: boolean;
  /** How passwords are kept: by scrypt (RFC 7914). */
  readonly password: {
    /** scrypt's cost is 2 to this power. */
    readonly logCost: number;
    /** scrypt's block size. */
    readonly blockSize: number;
    /** scrypt's parallelization. */
    readonly parallelization: number;
    /** Characters that a password has at least. */
    readonly minLength: number;
  };
  /** Failures within `windowSeconds` before 429. */
  readonly failures: {
    /** For how long failures count. */
    readonly windowSeconds: number;
    /** Wrong passwords for one account at one address. */
    readonly passwords: number;
    /** Wrong passwords for all accounts at one address. */
    readonly passwordsPerAddress: number;
    /** Wrong user codes in one session. */
    readonly userCodes: number;
    /** Wrong user codes at one address. */
    readonly userCodesPerAddress: number;
    /** Refused token requests of one client at one address, and of one family. */
    readonly tokens: number;
  };
}

export const defaultOAuthConfig: OAuthConfig = {
  accessTokenSeconds: 3600,
  refreshIdleSeconds: 30 * 24 * 3600,
  refreshAbsoluteSeconds: 90 * 24 * 3600,
  refreshGraceSeconds: 30,
  codeSeconds: 60,
  codeReplaySeconds: 0,
  deviceCodeSeconds: 900,
  deviceIntervalSeconds: 5,
  maxPendingDeviceCodes: 100,
  sessionSeconds: 30 * 24 * 3600,
  setupLinkSeconds: 24 * 3600,
  auditRetentionDays: 365,
  issParameter: true,
  introspection: false,
  singleUser: false,
  // 32 MiB and about 0.2 s: the cheapest in memory of OWASP's equivalent settings.
  password: { logCost: 15, blockSize: 8, parallelization: 3, minLength: 10 },
  failures: {
    windowSeconds: 600,
    passwords: 10,
    passwordsPerAddress: 100,
    userCodes: 5,
    userCodesPerAddress: 20,
    tokens: 100,
  },
};
