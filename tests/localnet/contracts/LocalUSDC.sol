// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

interface IERC1271 {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/// A dollar token for the local chains, with what x402 and payroute ask of the
/// live USDC: ERC-20, EIP-2612, EIP-3009, a blacklist and a pause. It has one
/// issuer for every role and cannot be upgraded; it is for tests only.
///
/// The constructor runs at another address than the token is used at, so nothing
/// here is immutable and the EIP-712 domain is worked out at every call.
contract LocalUSDC {
    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant PERMIT_TYPE =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    bytes32 private constant TRANSFER_TYPE = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    // A signature has a twin with the other half of the curve's order; only the
    // lower one counts, as in every token since EIP-2.
    uint256 private constant HIGHEST_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    string public name;
    string public version;
    string public symbol;
    uint8 public constant decimals = 6;

    address public issuer;
    bool public paused;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => uint256) public nonces;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;
    mapping(address => bool) public isBlacklisted;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event Blacklisted(address indexed account);
    event UnBlacklisted(address indexed account);
    event Pause();
    event Unpause();

    modifier onlyIssuer() {
        require(msg.sender == issuer, "LocalUSDC: caller is not the issuer");
        _;
    }

    modifier whenRunning() {
        require(!paused, "LocalUSDC: paused");
        _;
    }

    modifier allowed(address account) {
        require(!isBlacklisted[account], "LocalUSDC: account is blacklisted");
        _;
    }

    constructor(string memory name_, string memory version_, string memory symbol_) {
        name = name_;
        version = version_;
        symbol = symbol_;
        issuer = msg.sender;
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(DOMAIN_TYPE, keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this))
        );
    }

    function transfer(address to, uint256 value) external allowed(msg.sender) returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external allowed(msg.sender) returns (bool) {
        uint256 left = allowance[from][msg.sender];
        require(left >= value, "LocalUSDC: transfer amount exceeds allowance");
        if (left != type(uint256).max) allowance[from][msg.sender] = left - value;
        move(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        grant(msg.sender, spender, value);
        return true;
    }

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        require(block.timestamp <= deadline, "LocalUSDC: permit is expired");
        bytes32 content = keccak256(abi.encode(PERMIT_TYPE, owner, spender, value, nonces[owner]++, deadline));
        requireSigned(owner, content, abi.encodePacked(r, s, v));
        grant(owner, spender, value);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        authorized(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// The form for contract wallets, whose signatures have any length.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        authorized(from, to, value, validAfter, validBefore, nonce, signature);
    }

    function mint(address to, uint256 value) external onlyIssuer {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function blacklist(address account) external onlyIssuer {
        isBlacklisted[account] = true;
        emit Blacklisted(account);
    }

    function unBlacklist(address account) external onlyIssuer {
        isBlacklisted[account] = false;
        emit UnBlacklisted(account);
    }

    function pause() external onlyIssuer {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyIssuer {
        paused = false;
        emit Unpause();
    }

    function authorized(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) private {
        require(block.timestamp > validAfter, "LocalUSDC: authorization is not yet valid");
        require(block.timestamp < validBefore, "LocalUSDC: authorization is expired");
        require(!authorizationState[from][nonce], "LocalUSDC: authorization is used");
        bytes32 content = keccak256(abi.encode(TRANSFER_TYPE, from, to, value, validAfter, validBefore, nonce));
        requireSigned(from, content, signature);
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        move(from, to, value);
    }

    function move(address from, address to, uint256 value) private whenRunning allowed(from) allowed(to) {
        require(to != address(0), "LocalUSDC: transfer to the zero address");
        require(balanceOf[from] >= value, "LocalUSDC: transfer amount exceeds balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }

    function grant(address owner, address spender, uint256 value)
        private
        whenRunning
        allowed(owner)
        allowed(spender)
    {
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }

    /// An account with code answers for itself; one without must have signed.
    function requireSigned(address signer, bytes32 content, bytes memory signature) private view {
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), content));
        bool good = signer.code.length == 0
            ? signer == recover(digest, signature)
            : IERC1271(signer).isValidSignature(digest, signature) == IERC1271.isValidSignature.selector;
        require(good, "LocalUSDC: invalid signature");
    }

    /// The zero address is never a payer here: it is refused, not returned.
    function recover(bytes32 digest, bytes memory signature) private pure returns (address signer) {
        require(signature.length == 65, "LocalUSDC: invalid signature length");
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly {
            r := mload(add(signature, 32))
            s := mload(add(signature, 64))
            v := byte(0, mload(add(signature, 96)))
        }
        require(uint256(s) <= HIGHEST_S, "LocalUSDC: invalid signature 's'");
        signer = ecrecover(digest, v, r, s);
        require(signer != address(0), "LocalUSDC: invalid signature");
    }
}
