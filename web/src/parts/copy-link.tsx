import { usePassingWords } from "./use-passing-words.js";

/** The address of what is looked at: the view, never a patient's records. */
export function CopyLink() {
	const [said, say] = usePassingWords();
	return (
		<button
			type="button"
			className="small"
			title="The link holds the view, the date and the codes, and nothing of a patient's records"
			onClick={async () => {
				try {
					await navigator.clipboard.writeText(location.href);
					say("Link copied");
				} catch {
					say("Copy it from the address bar");
				}
			}}
		>
			<span role="status">{said || "Copy link"}</span>
		</button>
	);
}
