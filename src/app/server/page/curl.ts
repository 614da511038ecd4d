/** How a request is written for a shell. */
export interface CurlOptions {
	/** Of the API, such as `http://127.0.0.1:7428/api/v2`. */
	readonly api: string;
	readonly needsToken: boolean;
}

interface CurlRequest {
	readonly method: string;
	/** Below the API, with the query; `{id}` is that of a session. */
	readonly path: string;
	readonly body?: string;
}

/** As in docs/security.md: a token on the command line could be seen by others. */
const tokenHeader = `printf 'Authorization: Bearer %s' "$(cat token.txt)" | `;

/** A text in single quotes. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const line = ({ method, path, body }: CurlRequest, { api, needsToken }: CurlOptions): string =>
	[
		`${needsToken ? tokenHeader : ""}curl -s`,
		...(needsToken ? ["-H @-"] : []),
		...(method === "DELETE" ? ["-X DELETE"] : []),
		`"${api}${path.replace("{id}", "$ID")}"`,
		...(body === undefined ? [] : [`-H "Content-Type: application/json" -d ${quoted(body)}`]),
	].join(" ");

/** A command that sends the request; for a session it starts one first. */
export function curlCommand(
	request: CurlRequest,
	options: CurlOptions,
	/** The body that starts a session. */
	session: string | undefined,
): string {
	if (!request.path.includes("{id}")) return line(request, options);
	const start = line({ method: "POST", path: "/sessions", body: session ?? "{}" }, options);
	return `ID=$(${start} | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')\n${line(request, options)}`;
}
