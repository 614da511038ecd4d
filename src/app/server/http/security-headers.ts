/**
 * Sent with every response. The page runs only its own scripts and WebAssembly, connects only to its own
 * origin, and is isolated, so that threads may share memory.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
	"Content-Security-Policy": [
		"default-src 'none'",
		"script-src 'self' 'wasm-unsafe-eval'",
		"worker-src 'self'",
		"connect-src 'self'",
		"style-src 'self'",
		"font-src 'self'",
		"img-src 'self' data: blob:",
		"manifest-src 'self'",
		"form-action 'self'",
		"base-uri 'none'",
		"frame-ancestors 'none'",
	].join("; "),
	"Cross-Origin-Opener-Policy": "same-origin",
	"Cross-Origin-Embedder-Policy": "require-corp",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Origin-Agent-Cluster": "?1",
	"Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	"Referrer-Policy": "no-referrer",
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options": "DENY",
};
