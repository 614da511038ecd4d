import { useState } from "react";

/** The address of what is looked at: the view, never a patient's records. */
export function CopyLink() {
	const [said, setSaid] = useState("");
	return (
		<button
			type="button"
			className="small"
			title="The link holds the view, the date and the codes, and nothing of a patient's records"
			onClick={async () => {
				try {
					await navigator.clipboard.writeText(location.href);
					setSaid("Link copied");
				} catch {
					setSaid("Copy it from the address bar");
				}
				setTimeout(() => setSaid(""), 2500);
			}}
		>
			<span role="status">{said || "Copy link"}</span>
		</button>
	);
}
